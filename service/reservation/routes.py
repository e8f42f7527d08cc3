"""The route table of the reservation control plane; the OpenAPI document is generated from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service import errors
from service.reservation import bodies, holds, offers, reservations, waitlist
from service.reservation.handlers import Handlers
from service.web import Nothing, Operation

if TYPE_CHECKING:
    from service.database import Database
    from service.settings import Settings


def table(database: Database, settings: Settings) -> list[Operation]:
    """Return every operation of the control plane."""
    handlers = Handlers(database, settings)
    return [  # routes are tried in this order: what a rush consists of is found at once
        *_hold_operations(handlers),
        *_resource_operations(handlers),
        *_waitlist_operations(handlers),
        *_offer_operations(handlers),
        *_reservation_operations(handlers),
    ]


# A table reads best as one.
# fmt: off


def _resource_operations(handlers: Handlers) -> list[Operation]:
    missing = errors.RESOURCE_NOT_FOUND
    return [
        Operation(
            name="listResources", method="GET", path="/api/resources",
            summary="The tenant's resources, page by page", handle=handlers.list_resources,
            answer=bodies.ResourcePage, query={"after": 0, "limit": 0},
        ),
        Operation(
            name="createResource", method="POST", path="/api/resources", summary="Put a resource on offer",
            handle=handlers.create_resource, body=bodies.NewResource, answer=bodies.Resource, status=201,
            admin=True, refusals=(errors.RESOURCE_CODE_TAKEN,),
        ),
        Operation(
            name="showResource", method="GET", path="/api/resources/{id}",
            summary="One resource and its count", handle=handlers.show_resource, answer=bodies.Resource,
            missing=missing,
        ),
        Operation(
            name="closeResource", method="POST", path="/api/resources/{id}/close",
            summary="Take a resource off offer; who waits leaves", handle=handlers.close_resource,
            body=Nothing, answer=bodies.Resource, missing=missing, admin=True,
            refusals=(errors.RESOURCE_CLOSED,),
        ),
        Operation(
            name="resizeResource", method="POST", path="/api/resources/{id}/resize",
            summary="Set a resource's capacity; new seats go to who waits first",
            handle=handlers.resize_resource, body=bodies.NewSize, answer=bodies.Resource, missing=missing,
            admin=True, refusals=(errors.RESOURCE_CLOSED, errors.CAPACITY_BELOW_OCCUPIED),
        ),
        Operation(
            name="changePolicy", method="POST", path="/api/resources/{id}/policy",
            summary="Set a resource's policy and raise its version", handle=handlers.change_policy,
            body=bodies.NewPolicy, answer=bodies.Resource, missing=missing, admin=True,
            refusals=(errors.RESOURCE_CLOSED,),
        ),
    ]


def _hold_operations(handlers: Handlers) -> list[Operation]:
    missing = errors.HOLD_NOT_FOUND
    unfit = (
        errors.OWNER_MISMATCH,
        errors.HOLD_NOT_ACTIVE,
        errors.REVISION_CONFLICT,
        errors.POLICY_VERSION_MISMATCH,
        errors.HOLD_EXPIRED,
    )
    return [
        Operation(
            name="placeHold", method="POST", path="/api/resources/{id}/holds",
            summary="Hold a seat, or several", handle=handlers.place_hold, body=bodies.NewHold,
            answer=bodies.TakenHold, status=201, missing=errors.RESOURCE_NOT_FOUND,
            refusals=(errors.CAPACITY_EXHAUSTED, errors.RESOURCE_REVISION_CONFLICT, errors.RESOURCE_CLOSED,
            errors.OWNER_LIMIT_REACHED),
        ),
        Operation(
            name="showHold", method="GET", path="/api/holds/{id}", summary="One hold, to its owner",
            handle=handlers.show(bodies.Hold,
            lambda c, tenant, id_: holds.find(c, tenant=tenant, hold=id_)), answer=bodies.Hold,
            missing=missing, refusals=(errors.OWNER_MISMATCH,),
        ),
        Operation(
            name="confirmHold", method="POST", path="/api/holds/{id}/confirm",
            summary="Turn a live hold into a reservation", handle=handlers.act("hold.confirm",
            holds.confirm), body=bodies.Ask, answer=bodies.Reservation, status=201, missing=missing,
            refusals=unfit,
        ),
        Operation(
            name="cancelHold", method="POST", path="/api/holds/{id}/cancel",
            summary="End a live hold; its seats go to who waits", handle=handlers.act("hold.cancel",
            holds.cancel), body=bodies.Ask, answer=bodies.Hold, missing=missing, refusals=unfit,
        ),
    ]


def _waitlist_operations(handlers: Handlers) -> list[Operation]:
    return [
        Operation(
            name="joinWaitlist", method="POST", path="/api/resources/{id}/waitlist",
            summary="Stand at the end of a full resource's line", handle=handlers.join_waitlist,
            body=Nothing, answer=bodies.Entry, status=201, missing=errors.RESOURCE_NOT_FOUND,
            refusals=(errors.RESOURCE_CLOSED, errors.SEATS_AVAILABLE, errors.OWNER_LIMIT_REACHED),
        ),
        Operation(
            name="showEntry", method="GET", path="/api/waitlist/{id}",
            summary="One place in the line, to its owner", handle=handlers.show(bodies.Entry,
            lambda c, tenant, id_: waitlist.find(c, tenant=tenant, entry=id_) ), answer=bodies.Entry,
            missing=errors.ENTRY_NOT_FOUND, refusals=(errors.OWNER_MISMATCH,),
        ),
        Operation(
            name="leaveWaitlist", method="POST", path="/api/waitlist/{id}/leave", summary="Leave the line",
            handle=handlers.act("waitlist.leave", waitlist.leave), body=Nothing, answer=bodies.Entry,
            missing=errors.ENTRY_NOT_FOUND, refusals=(errors.OWNER_MISMATCH, errors.ENTRY_NOT_WAITING),
        ),
    ]


def _offer_operations(handlers: Handlers) -> list[Operation]:
    missing = errors.OFFER_NOT_FOUND
    unfit = (errors.OWNER_MISMATCH, errors.OFFER_NOT_ACTIVE, errors.REVISION_CONFLICT, errors.OFFER_EXPIRED)
    return [
        Operation(
            name="showOffer", method="GET", path="/api/offers/{id}", summary="One offer, to its owner",
            handle=handlers.show(bodies.Offer,
            lambda c, tenant, id_: offers.find(c, tenant=tenant, offer=id_) ), answer=bodies.Offer,
            missing=missing, refusals=(errors.OWNER_MISMATCH,),
        ),
        Operation(
            name="acceptOffer", method="POST", path="/api/offers/{id}/accept",
            summary="Turn a live offer into a reservation", handle=handlers.act("offer.accept",
            offers.accept), body=bodies.Ask, answer=bodies.Reservation, status=201, missing=missing,
            refusals=unfit,
        ),
        Operation(
            name="declineOffer", method="POST", path="/api/offers/{id}/decline",
            summary="End a live offer; the seat goes on to the next", body=bodies.Ask,
            handle=handlers.act("offer.decline", offers.decline), answer=bodies.Offer, missing=missing,
            refusals=unfit,
        ),
    ]


def _reservation_operations(handlers: Handlers) -> list[Operation]:
    missing = errors.RESERVATION_NOT_FOUND
    return [
        Operation(
            name="showReservation", method="GET", path="/api/reservations/{id}",
            summary="One reservation, to its owner", handle=handlers.show(bodies.Reservation,
            lambda c, tenant, id_: reservations.find(c, tenant=tenant, reservation=id_)),
            answer=bodies.Reservation, missing=missing, refusals=(errors.OWNER_MISMATCH,),
        ),
        Operation(
            name="cancelReservation", method="POST", path="/api/reservations/{id}/cancel",
            summary="Give a reservation's seats back", body=Nothing,
            handle=handlers.act("reservation.cancel", reservations.cancel), answer=bodies.Reservation,
            missing=missing, refusals=(errors.OWNER_MISMATCH, errors.RESERVATION_NOT_CONFIRMED),
        ),
    ]

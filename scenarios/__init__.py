"""The stories: what is on sale, who comes, what breaks, and what must hold."""

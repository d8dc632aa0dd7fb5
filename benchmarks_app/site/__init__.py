"""Pages of the whole site: home, health, and what an operator looks at."""

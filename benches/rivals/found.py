"""What a rival's search found."""


class Found:
    """`found`: the held-out error, the bytes and the options of all that was measured."""

    found: list

    def best(self, budget):
        """Error, bytes and options of the best that fits, the smaller of equals."""
        fits = [found for found in self.found if found[1] <= budget]
        return min(fits, key=lambda found: found[:2]) if fits else None

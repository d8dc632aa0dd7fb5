"""How numbers and dates are written: as in English, whatever language a page is in (ADR 42)."""

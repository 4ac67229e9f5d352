"""Sells tickets and papers at the harbour."""

from kiosk.basket import count

__all__ = ['count']

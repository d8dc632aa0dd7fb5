"""Contextual precision: does what helps stand before what does not, in the eyes of a judge?"""

"""In which order people get what a pool still wants: a queue that is put in order while they judge.

Where documents stand in the queue changes, and nothing else: neither the pool nor any label.
"""

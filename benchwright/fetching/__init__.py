"""Collections by their names, from the hub, BEIR and ir_datasets: addresses that may be asked,
downloads that go on where they broke off, and what is brought into the form of an upload.
"""

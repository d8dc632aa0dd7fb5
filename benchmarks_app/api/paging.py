"""Lists a page at a time."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"

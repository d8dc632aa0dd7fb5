"""What is searched for beside a query, and a grade of what came up."""

from django import forms

from benchmarks_app.models.collection import MAX_ID_BYTES

LAST_PAGE = 100


class SearchForm(forms.Form):
    q = forms.CharField(required=False, max_length=500)
    unjudged = forms.BooleanField(required=False)
    page = forms.IntegerField(required=False, min_value=1, max_value=LAST_PAGE)


class FoundGradeForm(SearchForm):
    """With the search that is gone back to, and the row on its page."""

    docid = forms.CharField(max_length=MAX_ID_BYTES, strip=False)
    grade = forms.IntegerField()
    client_id = forms.UUIDField()
    row = forms.IntegerField(min_value=0, max_value=1000)

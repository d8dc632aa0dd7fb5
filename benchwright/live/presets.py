"""How search servers are usually asked: starting points for a form or a command."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Preset:
    """Values for the fields of a live system."""

    label: str
    kind: str
    url: str
    method: str
    template: str
    results_path: str
    id_path: str
    score_path: str

    def fields(self) -> dict[str, str]:
        """{field: value}, the label and the example of an address left out."""
        names = ("kind", "method", "template", "results_path", "id_path", "score_path")
        return {name: getattr(self, name) for name in names}


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "opensearch": Preset(
            "OpenSearch, Elasticsearch",
            "opensearch",
            "https://search.example.org/INDEX/_search",
            "POST",
            """{
  "size": {{k}},
  "_source": false,
  "query": {"multi_match": {"query": {{query}}, "fields": ["title", "text"]}}
}""",
            "hits.hits",
            "_id",
            "_score",
        ),
        "solr": Preset(
            "Solr",
            "json",
            "https://search.example.org/solr/COLLECTION/select",
            "GET",
            "q={{query}}&defType=edismax&qf=title text&rows={{k}}&fl=id,score&wt=json",
            "response.docs",
            "id",
            "score",
        ),
        "vespa": Preset(
            "Vespa",
            "json",
            "https://search.example.org/search/",
            "POST",
            """{
  "yql": "select * from sources * where userQuery()",
  "query": {{query}},
  "hits": {{k}}
}""",
            "root.children",
            "fields.id",
            "relevance",
        ),
        "json": Preset(
            "Other JSON",
            "json",
            "https://search.example.org/search",
            "POST",
            '{"query": {{query}}, "k": {{k}}}',
            "results",
            "id",
            "score",
        ),
    }
)

# What editors and type checkers see of the package: at run time __init__.py loads each name when it is asked for.

from ._config import (
    config_context as config_context,
    get_config as get_config,
    set_config as set_config,
)
from ._run import Report as Report, StopeWarning as StopeWarning
from .decomposition import PCA as PCA, TruncatedSVD as TruncatedSVD
from .discretize import CutRanker as CutRanker, SupervisedDiscretizer as SupervisedDiscretizer
from .errors import StopeError as StopeError
from .gram import gram_matvec as gram_matvec
from .impute import KNNImputer as KNNImputer
from .io import (
    Model as Model,
    chain as chain,
    load as load,
    read_table as read_table,
    save as save,
    write_table as write_table,
)
from .linear_model import LinearRegression as LinearRegression, Ridge as Ridge
from .neighbors import (
    KNeighborsClassifier as KNeighborsClassifier,
    KNeighborsRegressor as KNeighborsRegressor,
    NearestNeighbors as NearestNeighbors,
    RadiusNeighborsClassifier as RadiusNeighborsClassifier,
    RadiusNeighborsRegressor as RadiusNeighborsRegressor,
)
from .pairwise import cross_distances as cross_distances, pairwise_distances as pairwise_distances
from .stats import column_stats as column_stats, correlation as correlation
from .table import Table as Table
from .tree import LocalDiscretizationTreeClassifier as LocalDiscretizationTreeClassifier

__version__: str

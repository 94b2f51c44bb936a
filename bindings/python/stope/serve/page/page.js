// What the page knows: the open table, what is chosen, the models that were fitted. Parts listen to each other's news.

const news = new EventTarget();

export const page = {
  table: null,     // {name, rows, columns, file, label, anonymous}
  roles: new Map(),  // column name -> role, where the person changed it
  statistics: null,
};

/** Calls `then` whenever `what` happens: "table" (opened), "label", "roles", "k". */
export const when = (what, then) => news.addEventListener(what, (event) => then(event.detail));
export const tell = (what, detail) => news.dispatchEvent(new CustomEvent(what, { detail }));

export const roleOf = (column) => page.roles.get(column.name) ?? column.role;
export const labelColumn = () => page.table?.columns.find((column) => roleOf(column) === "label") ?? null;
export const isNominal = (column) => ["nominal", "polynominal", "binominal"].includes(column.type);

const named = (role) => page.table.columns.filter((column) => roleOf(column) === role).map((column) => column.name);

// A list in a query is separated by commas; a name that holds one, or a quote, stands in quotes as in CSV.
export const listOf = (names) => names.map((name) => (/[",\r\n]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(",");

/** The stored table and the roles that were chosen here, as a request's query. */
export function tableQuery() {
  const [label] = named("label");
  const query = { table: page.table.name, target: label };
  if (page.roles.size > 0) {
    query.id = named("id")[0];
    query.sample_weight = named("weight")[0];
    query.ignore = listOf(named("ignore"));
  }
  return query;
}

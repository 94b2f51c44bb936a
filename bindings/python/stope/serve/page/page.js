// What the page knows: the open table, what is chosen, the models that were fitted. Parts listen to each other's news.

const news = new EventTarget();

export const page = {
  table: null,     // {name, rows, columns, shown, anonymous}
  roles: new Map(),  // column name -> role, where the person changed it
  statistics: null,
  numbersAreClasses: false,  // of a label of numbers
};

/** Calls `then` whenever `what` happens: "table" (opened), "label", "roles", "k". */
export const when = (what, then) => news.addEventListener(what, (event) => then(event.detail));
export const tell = (what, detail) => news.dispatchEvent(new CustomEvent(what, { detail }));

export const roleOf = (column) => page.roles.get(column.name) ?? column.role;
export const labelColumn = () => page.table?.columns.find((column) => roleOf(column) === "label") ?? null;
export const isNominal = (column) => ["nominal", "polynominal", "binominal"].includes(column.type);
/** Whether the label has classes: it is nominal, or the person said that its numbers are names. */
export const labelIsNominal = () => labelColumn() !== null && (isNominal(labelColumn()) || page.numbersAreClasses);

const named = (role) => page.table.columns.filter((column) => roleOf(column) === role).map((column) => column.name);

// A list in a query, as JSON: a name may hold a comma.
export const listOf = (names) => (names.length === 0 ? "" : JSON.stringify(names));

/** The stored table and the roles that were chosen here, as a request's query. */
export function tableQuery() {
  const [label] = named("label");
  const query = { table: page.table.name, target: label, target_is_nominal: label !== undefined && page.numbersAreClasses ? "true" : "" };
  if (page.roles.size > 0) {
    query.id = named("id")[0];
    query.sample_weight = named("weight")[0];
    query.ignore = listOf(named("ignore"));
  }
  return query;
}

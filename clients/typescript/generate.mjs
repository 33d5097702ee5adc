// Generates the types of the records and operations from the OpenAPI documents, into src/generated: `node generate.mjs`.
// The documents are prepared as clients/python/generate.py does it: keep both alike.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const DOCUMENTS = new URL("../../docs/openapi/", import.meta.url);
const GENERATED = new URL("src/generated/", import.meta.url);
const PARTS = { management: "management-v2.json", data: "data.json" };
const METHODS = ["get", "post", "put", "patch", "delete"];
// The payer sends payments, and the records know no 304.
const HIDDEN_PARAMETERS = ["If-None-Match", "PAYMENT-SIGNATURE", "SIGN-IN-WITH-X", "X-Payment"];

// Leaves in the document what the types are for; returns the operations that take an Idempotency-Key.
// Errors are thrown, redirects are followed, and downloads are plain URLs of their records.
function prepare(document) {
  const keyed = [];
  const shared = document.components.parameters ?? {};
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const method of METHODS.filter((name) => name in operations)) {
      const operation = operations[method];
      const responses = Object.entries(operation.responses).filter(([status]) => status < "300");
      if (responses.some(([, { content }]) => content && !("application/json" in content))) {
        delete operations[method];
        continue;
      }
      operation.responses = Object.fromEntries(responses);
      const given = (operation.parameters ?? []).map((each) => (each.$ref ? shared[each.$ref.split("/").at(-1)] : each));
      operation.parameters = given.filter((each) => each.required || !HIDDEN_PARAMETERS.includes(each.name));
      for (const parameter of operation.parameters.filter((each) => each.name === "Idempotency-Key")) {
        parameter.required = false;
        keyed.push(`${method.toUpperCase()} ${path}`);
      }
    }
    if (!METHODS.some((name) => name in operations)) delete document.paths[path];
  }
  return keyed;
}

const keyed = [];
await mkdir(GENERATED, { recursive: true });
for (const [part, name] of Object.entries(PARTS)) {
  const document = JSON.parse(await readFile(new URL(name, DOCUMENTS), "utf8"));
  keyed.push(...prepare(document));
  const options = { defaultNonNullable: false, rootTypes: true, rootTypesNoSchemaPrefix: true };
  await writeFile(new URL(`${part}.ts`, GENERATED), astToString(await openapiTS(document, options)));
}
await writeFile(
  new URL("keyed_operations.ts", GENERATED),
  `/** The operations that take an Idempotency-Key: method and path. */\nexport const KEYED_OPERATIONS: ReadonlySet<string> = new Set(${JSON.stringify(keyed, null, 2)});\n`,
);

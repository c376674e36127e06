import { type JsonObject, objectsOf, textOf } from '#relay/canonical/json-values.ts'

/** Separates the parts of a summary when they are joined to one text. */
export const SUMMARY_SEPARATOR = '\n\n'

/**
 * Returns the text of a reasoning item: the summary if there is one, and otherwise the reasoning
 * itself, which only models with open weights reveal.
 */
export function textOfReasoning(item: JsonObject): string {
  const summary = textsOf(item.summary)
  return (summary.length > 0 ? summary : textsOf(item.content)).join(SUMMARY_SEPARATOR)
}

const textsOf = (value: unknown): readonly string[] =>
  objectsOf(value)
    .map(({ text }) => textOf(text) ?? '')
    .filter((text) => text !== '')

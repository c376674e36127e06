import { type JsonObject, objectsOf, textOf } from '#relay/canonical/json-values.ts'

/** Separates the parts of a summary when they are joined to one text. */
export const SUMMARY_SEPARATOR = '\n\n'

/**
 * Returns the text of a reasoning item: the summary, or the reasoning itself if there is no
 * summary. Only models with open weights reveal their reasoning.
 */
export function textOfReasoning(item: JsonObject): string {
  const summary = textsOf(item.summary)
  return (summary.length > 0 ? summary : textsOf(item.content)).join(SUMMARY_SEPARATOR)
}

const textsOf = (value: unknown): readonly string[] =>
  objectsOf(value)
    .map(({ text }) => textOf(text) ?? '')
    .filter((text) => text !== '')

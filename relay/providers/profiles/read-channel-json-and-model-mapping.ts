import { MAPPING_DEPTH_MAX } from '#domain/shared/channel-field-rules.ts'
import { parsedObject } from '#relay/canonical/json-values.ts'

/**
 * Returns the members of the JSON object in a field of a channel's terms. Returns an empty list if
 * the text is not a JSON object.
 */
export function entriesOf(text: string): [string, unknown][] {
  return text === '' ? [] : Object.entries(parsedObject(text) ?? {})
}

/**
 * Maps each model in a channel's model mapping to the provider's name for it. Chained mappings are
 * resolved.
 */
export function modelNamesIn(modelMapping: string): ReadonlyMap<string, string> {
  const mapping = new Map(
    entriesOf(modelMapping).filter((pair): pair is [string, string] => {
      return typeof pair[1] === 'string' && pair[1] !== ''
    }),
  )
  return new Map([...mapping.keys()].map((model) => [model, mapped(model, mapping)]))
}

/**
 * Resolves a chain of mappings. If the chain is circular or too long, `model` itself is returned.
 */
function mapped(model: string, mapping: ReadonlyMap<string, string>): string {
  const seen = new Set([model])
  let name = model
  for (let depth = 0; depth <= MAPPING_DEPTH_MAX; depth += 1) {
    const next = mapping.get(name)
    if (next === undefined || next === name) return name
    if (seen.has(next)) return model
    seen.add(next)
    name = next
  }
  return model
}

/** Names that are no longer than this, and no more of them, can be a channel's models. */
const NAME_LENGTH_MAX = 256
const NAMES_MAX = 5_000

type Loose = Readonly<Record<string, unknown>>

/** By the list's name: which member of an entry is the name to call the model by. */
const LISTS: readonly (readonly [list: string, name: string])[] = [
  ['data', 'id'],
  ['models', 'name'],
  ['result', 'name'],
]

/**
 * The names in a provider's list of models, in its order: OpenAI's `data[].id`, Cohere's
 * `models[].name`, Cloudflare's `result[].name`. null when it is none of these.
 */
export function modelsIn(text: string): readonly string[] | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  for (const [list, name] of LISTS) {
    const entries = (value as Loose)[list]
    if (!Array.isArray(entries)) continue
    const names = entries.map((entry: unknown) =>
      typeof entry === 'object' && entry !== null ? (entry as Loose)[name] : null,
    )
    return [...new Set(names.filter(isName))].slice(0, NAMES_MAX)
  }
  return null
}

/** A comma would part it in two on the wire; a control character is no name. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= NAME_LENGTH_MAX &&
  /^[^,\p{Cc}\p{Cs}]+$/u.test(value)

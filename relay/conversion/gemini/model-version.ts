/** The properties of a model on which the rules for its requests depend. */
export type ModelVersion = {
  /** Such as 2.5. Null for a model with a name of another kind, such as Gemma. */
  readonly version: number | null
  readonly isPro: boolean
  readonly isLite: boolean
}

/** The version of aliases without a number, such as `gemini-flash-latest`. */
const LATEST = 3.5

/** Reads the version in the name of a model. */
export function readModelVersion(model: string): ModelVersion {
  const name = model.toLowerCase()
  const isPro = name.includes('pro')
  const isLite = name.includes('lite')
  const number = /gemini-(\d+(?:\.\d+)?)/.exec(name)?.[1]
  if (number !== undefined) return { version: Number(number), isPro, isLite }
  return { version: name.includes('gemini-') ? LATEST : null, isPro, isLite }
}

/**
 * True for Gemini 3 and later. These models require signatures of calls, and accept ids of calls,
 * media in function responses, and functions together with a JSON schema of the answer.
 */
export const isGemini3 = (model: string): boolean => (readModelVersion(model).version ?? 0) >= 3

/** The properties of a Gemini model that decide which request members it accepts. */
export type ModelVersion = {
  /**
   * The version number, such as 2.5. Null for a model that is not named after Gemini, such as
   * Gemma.
   */
  readonly version: number | null
  readonly isPro: boolean
  readonly isLite: boolean
}

/** The version that is assumed for aliases without a number, such as `gemini-flash-latest`. */
const LATEST = 3.5

/** Reads the version in a model name. */
export function readModelVersion(model: string): ModelVersion {
  const name = model.toLowerCase()
  const isPro = name.includes('pro')
  const isLite = name.includes('lite')
  const number = /gemini-(\d+(?:\.\d+)?)/.exec(name)?.[1]
  if (number !== undefined) return { version: Number(number), isPro, isLite }
  return { version: name.includes('gemini-') ? LATEST : null, isPro, isLite }
}

/**
 * Reports whether the model is Gemini 3 or later. These models refuse tool calls without a
 * signature. They accept ids of calls, media in function responses, and functions together with a
 * JSON schema for the answer.
 */
export const isGemini3 = (model: string): boolean => (readModelVersion(model).version ?? 0) >= 3

export type UrlParam<Value> = {
  readonly fallback: Value
  /** Parses the text in the URL. Returns null if the text is invalid. */
  readonly read: (text: string) => Value | null
  readonly write: (value: Value) => string
}

// biome-ignore lint/suspicious/noExplicitAny: each parameter has a separate value type
export type UrlSchema = Readonly<Record<string, UrlParam<any>>>
export type UrlValues<Schema extends UrlSchema> = {
  readonly [Name in keyof Schema]: Schema[Name] extends UrlParam<infer Value> ? Value : never
}

export const fallbacksOf = <Schema extends UrlSchema>(schema: Schema): UrlValues<Schema> =>
  Object.fromEntries(
    Object.entries(schema).map(([name, { fallback }]) => [name, fallback]),
  ) as UrlValues<Schema>

/**
 * Defines a parameter for a text. A text is invalid if it is longer than `maxLength`, or contains
 * control characters or incomplete Unicode characters.
 */
export function textParam(fallback = '', maxLength = 200): UrlParam<string> {
  return {
    fallback,
    read: (text) => (text.length <= maxLength && !hasControls(text) ? text : null),
    write: (value) => value,
  }
}

export function integerParam(options: {
  fallback: number
  min?: number
  max?: number
}): UrlParam<number> {
  const { fallback, min = 0, max = Number.MAX_SAFE_INTEGER } = options
  return {
    fallback,
    read: (text) => {
      if (!/^-?\d{1,16}$/.test(text)) return null
      const value = Number(text)
      return Number.isSafeInteger(value) && value >= min && value <= max ? value : null
    },
    write: String,
  }
}

export function flagParam(fallback = false): UrlParam<boolean> {
  return {
    fallback,
    read: (text) => (text === '1' ? true : text === '0' ? false : null),
    write: (value) => (value ? '1' : '0'),
  }
}

export function choiceParam<Value extends string>(
  choices: readonly Value[],
  fallback: Value,
): UrlParam<Value> {
  return {
    fallback,
    read: (text) => choices.find((choice) => choice === text) ?? null,
    write: (value) => value,
  }
}

/**
 * Reads all parameters of a schema from a URL. A parameter with an invalid value gets the fallback
 * value of the parameter, and `dropped` contains the name of the parameter.
 */
export function readUrlState<Schema extends UrlSchema>(
  schema: Schema,
  params: URLSearchParams,
): { values: UrlValues<Schema>; dropped: string[] } {
  const dropped: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, param] of Object.entries(schema)) {
    const text = params.get(name)
    const value = text === null ? param.fallback : param.read(text)
    if (value === null) dropped.push(name)
    values[name] = value ?? param.fallback
  }
  return { values: values as UrlValues<Schema>, dropped }
}

/**
 * Returns the query of a URL with new values. A value that equals the fallback of its parameter is
 * removed from the query.
 */
export function writeUrlState<Schema extends UrlSchema>(
  schema: Schema,
  params: URLSearchParams,
  patch: Partial<UrlValues<Schema>>,
): URLSearchParams {
  const next = new URLSearchParams(params)
  for (const [name, value] of Object.entries(patch)) {
    const param = schema[name]
    if (param === undefined || value === undefined) continue
    if (value === param.fallback) next.delete(name)
    else next.set(name, param.write(value))
  }
  return next
}

function hasControls(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects them
  return /[\u0000-\u001f\u007f]/.test(text) || !text.isWellFormed()
}

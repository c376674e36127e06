/**
 * The names that OpenRouter uses for models with built-in prices. The keys are the names that the
 * models' own providers use. A call has the same price under both names, including the prices of
 * caches, audio and long contexts.
 */
const OPENROUTER_NAMES: ReadonlyMap<string, string> = new Map([
  ['claude-fable-5-1', 'anthropic/claude-fable-5.1'],
  ['claude-opus-5-5', 'anthropic/claude-opus-5.5'],
  ['claude-sonnet-5', 'anthropic/claude-sonnet-5'],
  ['claude-sonnet-5-5', 'anthropic/claude-sonnet-5.5'],
  ['gemini-2.5-flash', 'google/gemini-2.5-flash'],
  ['gemini-2.5-pro', 'google/gemini-2.5-pro'],
  ['gemini-3.6-flash', 'google/gemini-3.6-flash'],
  ['gemini-3.8-flash', 'google/gemini-3.8-flash'],
  ['gpt-5.5', 'openai/gpt-5.5'],
  ['gpt-6-astra', 'openai/gpt-6-astra'],
  ['gpt-6-luna', 'openai/gpt-6-luna'],
  ['gpt-6-sol', 'openai/gpt-6-sol'],
  ['gpt-6.1-sol', 'openai/gpt-6.1-sol'],
])

/** Returns the models, with the OpenRouter name inserted after each model that has one. */
export const addOpenRouterNames = (models: readonly string[]): readonly string[] =>
  models.flatMap((model) => {
    const name = OPENROUTER_NAMES.get(model)
    return name === undefined ? [model] : [model, name]
  })

export const isOpenRouterName = (model: string): boolean => OPENROUTER_VALUES.has(model)

const OPENROUTER_VALUES: ReadonlySet<string> = new Set(OPENROUTER_NAMES.values())

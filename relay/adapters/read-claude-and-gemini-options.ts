import { isConfigurableHeader, isHeaderValue } from '#domain/options/configurable-headers.ts'
import { optionFlag, optionJson, optionValue } from '#domain/options/option-registry.ts'
import { GEMINI_VERSIONS, SAFETY_THRESHOLDS } from '#domain/options/sections/models.ts'

/**
 * The options that control the adapters (the code that sets members of requests for certain
 * models).
 */
export type AdapterOptions = {
  readonly claude: {
    /** True if suffixes of model names, such as `-thinking`, control how much a model thinks. */
    readonly isThinkingEnabled: boolean
    /**
     * The share of the output limit that a model may use for thinking, as a fraction: 0.8 is 80 %.
     */
    readonly thinkingShare: number
    /**
     * The additional headers, by model name and then by header name. A header has a list of values.
     */
    readonly headers: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>
  }
  readonly gemini: {
    readonly isThinkingEnabled: boolean
    readonly thinkingShare: number
    /**
     * The models whose thinking is set as a budget in tokens. If the set is empty, thinking is set
     * as a budget for the models before Gemini 3.
     */
    readonly budgetModels: ReadonlySet<string>
    /**
     * The JSON text of `safetySettings` that is added to requests without this member. Null if
     * nothing is added.
     */
    readonly safetySettings: string | null
    /**
     * The API version in the path, by model name. The entry `default` applies to models without an
     * entry.
     */
    readonly versions: ReadonlyMap<string, string>
    /** The models that can return images as well as text. */
    readonly imageModels: ReadonlySet<string>
  }
}

/** Settings that turn off all adapters that options control. */
export const NO_ADAPTERS: AdapterOptions = {
  claude: { isThinkingEnabled: false, thinkingShare: 0, headers: new Map() },
  gemini: {
    isThinkingEnabled: false,
    thinkingShare: 0,
    budgetModels: new Set(),
    safetySettings: null,
    versions: new Map(),
    imageModels: new Set(),
  },
}

/**
 * Reads the options of the adapters. Invalid entries are ignored. Options that were stored before
 * the current validation existed can contain invalid entries.
 */
export function readAdapterOptions(values: ReadonlyMap<string, string>): AdapterOptions {
  const entries = (key: string): [string, unknown][] =>
    Object.entries(optionJson(values, key) ?? {})
  const names = (key: string): ReadonlySet<string> =>
    new Set(Object.values(optionJson(values, key) ?? []).filter((name) => typeof name === 'string'))
  const share = (key: string): number => Number(optionValue(values, key))
  return {
    claude: {
      isThinkingEnabled: optionFlag(values, 'claude.thinking_adapter_enabled'),
      thinkingShare: share('claude.thinking_adapter_budget_tokens_percentage'),
      headers: new Map(
        entries('claude.model_headers_settings').map(([model, headers]) => [
          model,
          new Map(Object.entries(headers ?? {}).flatMap(headerOf)),
        ]),
      ),
    },
    gemini: {
      isThinkingEnabled: optionFlag(values, 'gemini.thinking_adapter_enabled'),
      thinkingShare: share('gemini.thinking_adapter_budget_tokens_percentage'),
      budgetModels: names('gemini.models_supported_thinking_budget'),
      safetySettings: safetySettingsOf(entries('gemini.safety_settings')),
      versions: new Map(
        entries('gemini.version_settings').filter(isOneOf<string>(GEMINI_VERSIONS)),
      ),
      imageModels: names('gemini.supported_imagine_models'),
    },
  }
}

const isOneOf =
  <Choice extends string>(choices: readonly Choice[]) =>
  (entry: [string, unknown]): entry is [string, Choice] =>
    choices.some((choice) => choice === entry[1])

function headerOf([name, value]: [string, unknown]): [string, readonly string[]][] {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  const valid = texts.filter((text) => typeof text === 'string').filter(isHeaderValue)
  return isConfigurableHeader(name) && valid.length > 0 ? [[name.toLowerCase(), valid]] : []
}

/**
 * The harm categories that get the threshold of the entry `default` in the option
 * `gemini.safety_settings`, unless they have an entry of their own.
 */
const HARM_CATEGORIES = [
  'HARM_CATEGORY_HARASSMENT',
  'HARM_CATEGORY_HATE_SPEECH',
  'HARM_CATEGORY_SEXUALLY_EXPLICIT',
  'HARM_CATEGORY_DANGEROUS_CONTENT',
]

function safetySettingsOf(entries: readonly [string, unknown][]): string | null {
  const thresholds = new Map(entries.filter(isOneOf<string>(SAFETY_THRESHOLDS)))
  const others = thresholds.get('default')
  thresholds.delete('default')
  for (const category of HARM_CATEGORIES) {
    if (others !== undefined && !thresholds.has(category)) thresholds.set(category, others)
  }
  const settings = [...thresholds].map(([category, threshold]) => ({ category, threshold }))
  return settings.length === 0 ? null : JSON.stringify(settings)
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Static } from 'typebox'
import { request } from 'undici'
import { BUILT_IN_PRICES_AS_OF, builtInRatios } from '#domain/pricing/built-in-prices.ts'
import { isOpenRouterName } from '#domain/pricing/openrouter-aliases.ts'
import { DEFAULT_OUTPUT_CAPS } from '#domain/pricing/output-limits-by-model.ts'
import { isNumber, isObject, parseJsonText } from '#domain/shared/lossless-json.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { createOutbound, type Outbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { optionQueries, type PresetQuery, type PresetRatios } from '../contract/options.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'
import { currentOptions } from './current-options.ts'

const NAMES_MAX = 5_000
const NAME_LENGTH_MAX = 256
/** Matches a decimal without a sign or an exponent. */
const RATIO = /^\d{1,12}(?:\.\d{1,30})?$/

/** Matches a number of output tokens within the bounds of the option `MaxOutputTokens`. */
const OUTPUT_CAP = /^[1-9]\d{0,8}$/

/**
 * Parses a JSON object that maps models to ratios. All digits of a ratio are kept. Returns null if
 * the JSON, a model name or a ratio is invalid, or if there are more than 5000 models.
 */
const readPresetList = (text: string): Map<string, string> | null => readNumbers(text, RATIO)

/**
 * Parses a JSON object that maps models to their maximum numbers of output tokens. Returns null if
 * the JSON, a model name or a number is invalid, or if there are more than 5000 models.
 */
const readOutputCapList = (text: string): Map<string, string> | null =>
  readNumbers(text, OUTPUT_CAP)

function readNumbers(text: string, shape: RegExp): Map<string, string> | null {
  const parsed = parseJsonText(text)
  if ('error' in parsed || !isObject(parsed.value) || parsed.value.size > NAMES_MAX) return null
  const list = new Map<string, string>()
  for (const [name, value] of parsed.value) {
    if (name === '' || name.length > NAME_LENGTH_MAX || name === '__proto__') return null
    if (!isNumber(value) || !shape.test(value.numberText)) return null
    list.set(name, value.numberText)
  }
  return list
}

const LIST_BYTES_MAX = 2 * 1024 * 1024
const TIME_MAX_MS = 10_000

type Lists = {
  readonly as_of: string
  readonly prompt: Record<string, string>
  readonly completion: Record<string, string>
  readonly max_output: Record<string, string>
}

/**
 * Requests the lists of a source: only completion ratios if `hasPrompt` is false. Returns null if a
 * list is invalid or a request fails. Only the list of output limits may be missing.
 */
async function fetchPreset(
  outbound: Outbound,
  baseUrl: string,
  source: string,
  hasPrompt: boolean,
): Promise<Lists | null> {
  try {
    const dates: string[] = []
    const textAt = async (name: string): Promise<string | null> => {
      const url = `${baseUrl.replace(/\/+$/, '')}/${source}/${name}.json`
      const file = await fetchFile(outbound, url)
      if (file !== null) dates.push(file.changed)
      return file?.text ?? null
    }
    const list = async (name: string) => {
      const parsed = readPresetList((await textAt(name)) ?? '')
      if (parsed === null) throw new Error('not a map of ratios')
      return Object.fromEntries(parsed)
    }
    // Older sources have no list of output limits.
    const caps = async () => {
      const parsed = readOutputCapList((await textAt('max_output')) ?? '{}')
      if (parsed === null) throw new Error('not a map of output limits')
      return Object.fromEntries(parsed)
    }
    const [prompt, completion, max_output] = await Promise.all([
      hasPrompt ? list('prompt') : {},
      list('completion'),
      hasPrompt ? caps() : {},
    ])
    const as_of = dates.includes('') ? '' : (dates.toSorted()[0] ?? '')
    return { as_of, prompt, completion, max_output }
  } catch {
    return null
  }
}

type FetchedFile = {
  readonly text: string
  /** The date on which the file was last changed. Empty if the date is unknown. */
  readonly changed: string
}

/**
 * Requests a file. Returns null if the status is 404 or 403, because some storage services answer
 * with 403 for a missing file. Throws for any other status except 200.
 */
async function fetchFile({ dispatcher }: Outbound, url: string): Promise<FetchedFile | null> {
  const { statusCode, headers, body } = await request(url, {
    dispatcher,
    headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(TIME_MAX_MS),
  })
  if (statusCode !== 200) {
    await body.dump()
    if (statusCode === 404 || statusCode === 403) return null
    throw new Error(`answered ${statusCode}`)
  }
  const changed = new Date(String(headers['last-modified'] ?? ''))
  const hasDate = !Number.isNaN(changed.getTime())
  return { text: await body.text(), changed: hasDate ? changed.toISOString().slice(0, 10) : '' }
}

/**
 * The providers from whose public prices the shipped ratios were computed (see
 * `presets/README.md`).
 */
const PROVIDERS =
  'OpenAI, Anthropic, Google, DeepSeek, Mistral, xAI, Moonshot, Z.ai, Cohere, Perplexity'

const LIMITS = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  maxResponseBytes: LIST_BYTES_MAX,
}

/**
 * `GET /api/option/preset_ratios?source=`: ratios that an admin can merge into the options, fetched
 * from the configured address. If no address is configured or fetching fails, the response has the
 * ratios that are shipped with this release.
 */
export function presetRatios(app: App, deps: ReadDeps): void {
  const lazy = lazyOutbound(deps.core)
  app.addHook('onClose', async () => lazy.close())
  app.route({
    ...endpoint(optionQueries, 'GET /api/option/preset_ratios'),
    onRequest: onlyAdmin,
    preHandler: upToDate(deps, 'options'),
    handler: async ({ query }) => {
      const { source } = query as Static<typeof PresetQuery>
      const baseUrl = (await currentOptions(deps.core)).text('PresetRatioUrl')
      if (baseUrl === '') return success(shippedRatios(source, false))
      const lists = await fetchPreset(lazy.open(), baseUrl, source, source !== 'legacy')
      if (lists === null) return success(shippedRatios(source, true))
      const price_source = URL.parse(baseUrl)?.host ?? ''
      const fetched = { source, origin: 'fetched', price_source, is_fetch_failed: false } as const
      return success({ ...fetched, ...lists, older: null })
    },
  })
}

const shippedRatios = (
  source: PresetSource,
  isFetchFailed: boolean,
): Static<typeof PresetRatios> => ({
  ...{ source, origin: 'shipped', price_source: PROVIDERS, is_fetch_failed: isFetchFailed },
  ...shippedPreset(source, { readRatios: readPresetList, readCaps: readOutputCapList }),
})

/**
 * Returns functions that open and close an HTTP client. The first call of `open` creates the
 * client.
 */
function lazyOutbound({ config }: Pick<Core, 'config'>) {
  let outbound: Outbound | null = null
  return {
    open: (): Outbound => {
      outbound ??= createOutbound(operatorPolicy(config), LIMITS)
      return outbound
    },
    close: async () => outbound?.close(),
  }
}

const FOLDER = join(import.meta.dirname, 'presets')
/** The month of the prices in the folder `presets` (see `presets/README.md`). */
const OLDER_AS_OF = '2025-10'

/** The sources of ratios. `legacy` has only completion ratios. */
type PresetSource = 'flexible' | 'openrouter' | 'legacy'

type ShippedPreset = Pick<PresetRatios, 'as_of' | 'older' | 'prompt' | 'completion' | 'max_output'>
type ReadList = (text: string) => ReadonlyMap<string, string> | null

/**
 * Returns the ratios of a source that are shipped with this release: the ratios of the built-in
 * prices, and older ratios of models that have no built-in price. For `legacy`, only older
 * completion ratios are returned.
 */
function shippedPreset(
  source: PresetSource,
  { readRatios, readCaps }: { readonly readRatios: ReadList; readonly readCaps: ReadList },
): ShippedPreset {
  const listIn = (name: string, read = readRatios): ReadonlyMap<string, string> =>
    read(readFileSync(join(FOLDER, source, `${name}.json`), 'utf8')) ?? new Map()
  const completion = listIn('completion')
  if (source === 'legacy') {
    const lists = { prompt: {}, completion: Object.fromEntries(completion), max_output: {} }
    return { as_of: OLDER_AS_OF, older: null, ...lists }
  }
  const names = namesOf(source)
  const older = [...completion.keys()].filter((name) => !names.has(name))
  return {
    as_of: BUILT_IN_PRICES_AS_OF,
    older: { as_of: OLDER_AS_OF, models: older },
    prompt: merged(listIn('prompt'), names, builtInRatios('ModelRatio')),
    completion: merged(completion, names, builtInRatios('CompletionRatio')),
    max_output: merged(listIn('max_output', readCaps), names, DEFAULT_OUTPUT_CAPS),
  }
}

/**
 * Returns the names of the models that have a built-in price. For the source `openrouter`, these
 * are OpenRouter's names. For any other source, these are all names except OpenRouter's.
 */
const namesOf = (source: PresetSource): ReadonlySet<string> =>
  new Set(
    [...builtInRatios('ModelRatio').keys()].filter(
      (model) => isOpenRouterName(model) === (source === 'openrouter'),
    ),
  )

/**
 * Returns the list, sorted by name, with the built-in values of the models in `names`. A built-in
 * value replaces the value in the list.
 */
function merged(
  list: ReadonlyMap<string, string>,
  names: ReadonlySet<string>,
  builtIn: ReadonlyMap<string, string | number>,
): Record<string, string> {
  const values = new Map(list)
  for (const name of names) {
    const value = builtIn.get(name)
    if (value !== undefined) values.set(name, `${value}`)
  }
  return Object.fromEntries([...values].sort(([one], [other]) => (one < other ? -1 : 1)))
}

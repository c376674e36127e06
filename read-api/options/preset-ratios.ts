import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Static } from 'typebox'
import Type from 'typebox'
import { request } from 'undici'
import { isNumber, isObject, parseJsonText } from '#domain/shared/json-text.ts'
import type { Core } from '#infra/core.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { createOutbound, type Outbound } from '#infra/outbound/dispatcher.ts'
import { operatorPolicy } from '#infra/outbound/guard.ts'
import { Envelope } from '../contract/envelope.ts'
import { PresetRatios } from '../contract/options.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'
import { optionsInForce } from './list-options.ts'

const NAMES_MAX = 5_000
const NAME_LENGTH_MAX = 256
/** Plain decimals, as prices may have them. */
const RATIO = /^\d{1,12}(?:\.\d{1,30})?$/

/** Tokens of an answer, in the bounds of the option that takes them over. */
const OUTPUT_CAP = /^[1-9]\d{0,8}$/

/** Model → ratio, digit by digit; null for a text that is anything but a flat map of decimals. */
const readPresetList = (text: string): Map<string, string> | null => readNumbers(text, RATIO)

/** Model → the most output tokens of an answer; null for any other text. */
const readOutputCapList = (text: string): Map<string, string> | null =>
  readNumbers(text, OUTPUT_CAP)

function readNumbers(text: string, shape: RegExp): Map<string, string> | null {
  const parsed = parseJsonText(text)
  if ('fault' in parsed || !isObject(parsed.value) || parsed.value.size > NAMES_MAX) return null
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
  readonly prompt: Record<string, string>
  readonly completion: Record<string, string>
  readonly max_output: Record<string, string>
}

/** The lists below the address; null where one can't be had or is none, whatever the reason. */
async function fetchPreset(
  outbound: Outbound,
  base: string,
  source: string,
  hasPrompt: boolean,
): Promise<Lists | null> {
  try {
    const textAt = (name: string) =>
      textOf(outbound, `${base.replace(/\/+$/, '')}/${source}/${name}.json`)
    const list = async (name: string) => {
      const found = readPresetList((await textAt(name)) ?? '')
      if (found === null) throw new Error('no map of ratios')
      return Object.fromEntries(found)
    }
    // Addresses that were set up before there were output limits have no such list.
    const caps = async () => {
      const found = readOutputCapList((await textAt('max_output')) ?? '{}')
      if (found === null) throw new Error('no map of output limits')
      return Object.fromEntries(found)
    }
    const [prompt, completion, max_output] = await Promise.all([
      hasPrompt ? list('prompt') : {},
      list('completion'),
      hasPrompt ? caps() : {},
    ])
    return { prompt, completion, max_output }
  } catch {
    return null
  }
}

/** Null where there is no such file; storage services answer 403 for those as well. */
async function textOf({ dispatcher }: Outbound, url: string): Promise<string | null> {
  const { statusCode, body } = await request(url, {
    dispatcher,
    headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(TIME_MAX_MS),
  })
  if (statusCode !== 200) {
    await body.dump()
    if (statusCode === 404 || statusCode === 403) return null
    throw new Error(`answered ${statusCode}`)
  }
  return body.text()
}

const FOLDER = join(import.meta.dirname, 'presets')
const AS_OF = '2025-10'

/** Whether a source has more than completion ratios. */
const SOURCES = { flexible: true, openrouter: true, legacy: false } as const
type PresetSource = keyof typeof SOURCES

const Query = Type.Object({
  source: Type.Union([
    Type.Literal('flexible'),
    Type.Literal('openrouter'),
    Type.Literal('legacy'),
  ]),
})

const LIMITS = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  maxResponseBytes: LIST_BYTES_MAX,
}

/**
 * `GET /api/option/preset_ratios?source=`: ratios to merge, from the configured address where there
 * is one and it answers as it should, else those that are shipped.
 */
export function presetRatios(app: App, deps: ReadDeps): void {
  const outbounds = outboundsOf(deps.core)
  app.addHook('onClose', async () => outbounds.close())
  app.get(
    '/api/option/preset_ratios',
    {
      schema: { querystring: Query, response: { 200: Envelope(PresetRatios) } },
      onRequest: onlyAdmin,
      preHandler: upToDate(deps, 'options'),
    },
    async ({ query }) => {
      const { source } = query as Static<typeof Query>
      const base = (await optionsInForce(deps.core)).text('PresetRatioUrl')
      if (base === '') return success(shipped(source, false))
      const lists = await fetchPreset(outbounds.open(), base, source, SOURCES[source])
      if (lists === null) return success(shipped(source, true))
      return success({ source, origin: 'fetched', as_of: '', is_fetch_failed: false, ...lists })
    },
  )
}

function shipped(source: PresetSource, isFetchFailed: boolean): Static<typeof PresetRatios> {
  const list = (name: string, read = readPresetList) =>
    Object.fromEntries(read(readFileSync(join(FOLDER, source, `${name}.json`), 'utf8')) ?? [])
  return {
    source,
    origin: 'shipped',
    as_of: AS_OF,
    is_fetch_failed: isFetchFailed,
    prompt: SOURCES[source] ? list('prompt') : {},
    completion: list('completion'),
    max_output: SOURCES[source] ? list('max_output', readOutputCapList) : {},
  }
}

/** Opened with the first question that needs it. */
function outboundsOf({ config }: Pick<Core, 'config'>) {
  let opened: Outbound | null = null
  return {
    open: (): Outbound => {
      opened ??= createOutbound(operatorPolicy(config), LIMITS)
      return opened
    },
    close: async () => opened?.close(),
  }
}

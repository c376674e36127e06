import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import type { Core } from '#infra/core.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { createOutbound, type Outbound } from '#infra/outbound/dispatcher.ts'
import { operatorPolicy } from '#infra/outbound/guard.ts'
import { Envelope } from '../contract/envelope.ts'
import { PresetRatios } from '../contract/option.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'
import { fetchPreset, LIST_BYTES_MAX } from './fetch-preset.ts'
import { optionsInForce } from './options-in-force.ts'
import { readOutputCapList, readPresetList } from './preset-list.ts'

const FOLDER = join(import.meta.dirname, 'presets')
const AS_OF = '2025-10'

/** Whether a source has more than completion ratios. */
const SOURCES = { flexible: true, openrouter: true, legacy: false } as const
export type PresetSource = keyof typeof SOURCES

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

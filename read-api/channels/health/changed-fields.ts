import type { TimelineEntry } from '#projections/channel-timeline/query.ts'

type Terms = Readonly<Record<string, unknown>>

/** Names as on the wire; what is not listed is not named. */
const WIRE_NAMES: ReadonlyMap<string, string> = new Map([
  ['name', 'name'],
  ['type', 'type'],
  ['baseUrl', 'base_url'],
  ['models', 'models'],
  ['groups', 'group'],
  ['priority', 'priority'],
  ['weight', 'weight'],
  ['tag', 'tag'],
  ['isAutoBan', 'auto_ban'],
  ['testModel', 'test_model'],
  ['organization', 'openai_organization'],
  ['other', 'other'],
  ['modelPrefix', 'model_prefix'],
  ['maxInputTokens', 'max_input_tokens'],
  ['expiredTime', 'expired_time'],
  ['maxConcurrency', 'max_concurrency'],
  ['maxRpm', 'max_rpm'],
  ['modelMapping', 'model_mapping'],
  ['statusCodeMapping', 'status_code_mapping'],
  ['setting', 'setting'],
  ['proxyRef', 'setting'],
  ['paramOverride', 'param_override'],
  ['costRatio', 'cost_ratio'],
])

/** Which fields each change of terms touched, by the entry's position. */
export function changedFields(entries: readonly TimelineEntry[]): Map<number, string[]> {
  const fields = new Map<number, string[]>()
  let terms: Terms = {}
  for (const { position, detail, kind } of entries) {
    const next: Terms = detail.terms ?? { ...terms, ...detail.change }
    if (kind !== 'created') fields.set(position, differing(terms, next))
    terms = next
  }
  return fields
}

const differing = (before: Terms, after: Terms): string[] => [
  ...new Set(
    [...WIRE_NAMES].flatMap(([key, name]) =>
      JSON.stringify(before[key]) === JSON.stringify(after[key]) ? [] : [name],
    ),
  ),
]

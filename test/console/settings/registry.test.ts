import { describe, expect, it } from 'vitest'
import { FALLBACK_KEYS } from '#console/features/settings/fallback-pricing.ts'
import { JSON_OPTIONS, SECTIONS } from '#console/features/settings/setting-fields.ts'
import { OPTIONS } from '#domain/options/registry.ts'

const fields = Object.values(SECTIONS).flatMap((sections) =>
  sections.flatMap((section) => section.fields),
)

describe('the settings page and the registry of options', () => {
  it.each(fields)('$key: the same kind and the same bounds', ({ key, kind, min, max }) => {
    const type = OPTIONS.get(key)?.type
    if (kind === 'flag') expect(type?.kind).toBe('flag')
    if (kind === 'text') expect(['text', 'url']).toContain(type?.kind)
    if (kind !== 'integer') return
    if (type?.kind !== 'integer' && type?.kind !== 'decimal') throw new Error(`${key}: no number`)
    expect([min, max]).toEqual([Number(type.minimum), Number(type.maximum)])
  })

  it.each([...FALLBACK_KEYS, ...Object.keys(JSON_OPTIONS)])('%s is an option', (key) => {
    expect(OPTIONS.has(key)).toBe(true)
  })
})

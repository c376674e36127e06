import { describe, expect, it } from 'vitest'
import { Findings } from '#domain/audit/findings.ts'
import { splitFindingText } from '#domain/audit/split-finding-text.ts'

const reported = (report: (findings: Findings) => void) => {
  const findings = new Findings()
  report(findings)
  const [finding] = findings.list()
  if (finding === undefined) throw new Error('nothing was reported')
  return finding
}

describe('the parts of a finding’s text', () => {
  const overdue = reported((findings) =>
    findings.report('leases', null, 'HoldOverdue', { call: 'a', hold: 2n ** 70n, minutes: 5 }),
  )

  it('tell amounts and calls from counts, in both languages', () => {
    expect(splitFindingText('en', overdue)).toEqual([
      { kind: 'text', value: 'call ' },
      { kind: 'call', value: 'a' },
      { kind: 'text', value: ' still holds ' },
      { kind: 'amount', value: String(2n ** 70n) },
      { kind: 'text', value: ', 5 min after its lease' },
    ])
    expect(splitFindingText('zh', overdue).map(({ kind }) => kind)).toEqual([
      ...['text', 'call', 'text', 'amount'],
    ])
  })

  it('do not take a count for an amount because of its name', () => {
    const finding = reported((findings) =>
      findings.report('redemptions', null, 'CodeUsesDiffer', { code: 3, recorded: 5, uses: 4 }),
    )
    expect(splitFindingText('en', finding)).toEqual([{ kind: 'text', value: finding.detail }])
  })

  it('name users by their ids', () => {
    const finding = reported((findings) =>
      findings.report('redemptions', null, 'CodeRedeemedAgain', { userId: 7 }),
    )
    expect(splitFindingText('en', finding)).toEqual([
      { kind: 'text', value: 'user ' },
      { kind: 'user', value: '7' },
      { kind: 'text', value: ' redeems the code again' },
    ])
  })

  it.each([
    ['an amount that is no number', 'much', '5'],
    ['marks of parts within a param', '1', '\uE000call\uE001'],
  ])('are the text also with %s', (_, hold, minutes) => {
    const finding = { ...overdue, params: { call: 'a', hold, minutes } }
    const values = splitFindingText('en', finding).map(({ value }) => value)
    expect(values.join('')).toBe(`call a still holds ${hold}, ${minutes} min after its lease`)
  })

  it('are one text if the finding is of another release, or too long', () => {
    const detail = 'the stored sentence'
    expect(splitFindingText('zh', { detail })).toEqual([{ kind: 'text', value: detail }])
    const long = { ...overdue, params: { ...overdue.params, call: 'x'.repeat(300) } }
    const [whole, ...rest] = splitFindingText('en', long)
    expect(whole?.value).toHaveLength(301)
    expect(rest).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { type FindingPlace, Findings } from '#domain/audit/findings.ts'
import {
  checkLines,
  findingLine,
  resultLine,
} from '#infra/audit-program/verification-report-text.ts'

describe('a report of a verification', () => {
  it('counts one finding and several in words', () => {
    expect(resultLine(0)).toBe('Nothing was found.')
    expect(resultLine(1)).toBe('1 finding:')
    expect(resultLine(1_200)).toBe('1,200 findings, of which the first are:')
    const findings = new Findings()
    findings.report('revisions', null, 'RevisionNotFirst')
    expect(checkLines(findings)).toEqual([expect.stringMatching(/FAILED.* 1 finding$/)])
    findings.report('revisions', null, 'RevisionNotFirst')
    expect(checkLines(findings)).toEqual([expect.stringMatching(/FAILED.* 2 findings$/)])
  })

  it('names the place of a finding as far as it is known', () => {
    const findings = new Findings()
    const report = (place: FindingPlace | null) =>
      findings.report('revisions', place, 'RevisionNotNext', { last: 4 })
    report({ position: 9, stream: 'account-7', revision: 3 })
    report({ stream: 'account-7' })
    report({ position: 9 })
    report(null)
    const text = 'directly follows revision 4, so the revisions of the stream are not consecutive'
    expect(findings.list().map(findingLine)).toEqual([
      `  revisions at position 9 (account-7, revision 3): ${text}`,
      `  revisions (account-7): ${text}`,
      `  revisions at position 9: ${text}`,
      `  revisions: ${text}`,
    ])
  })
})

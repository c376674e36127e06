import type { Finding, Findings } from '#domain/audit/findings.ts'
import type { VerificationReport } from './verify-export.ts'

/**
 * Replaces characters that control a terminal or the direction of text. The names and details in a
 * report come from the verified events. Without the replacement, they could hide or imitate a
 * result of the report.
 */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })

const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

const grouped = (value: number): string => value.toLocaleString('en-US')

/** Returns a number of findings as text, such as `1 finding`. */
export const countOf = (findings: number): string =>
  `${grouped(findings)} ${findings === 1 ? 'finding' : 'findings'}`

/** Returns the line of a report that says how many findings follow. */
export function resultLine(findings: number): string {
  if (findings === 0) return 'Nothing was found.'
  return findings === 1 ? '1 finding:' : `${countOf(findings)}, of which the first are:`
}

/**
 * Returns one line for each check: its result, its name, how often the check was made, and the
 * number of its findings.
 */
export function checkLines(findings: Findings): string[] {
  return findings.summary().map(({ check, count, findings: found }) => {
    const result = found === 0 ? 'ok    ' : 'FAILED'
    const number = found === 0 ? '' : `  ${countOf(found)}`
    return `  ${result}  ${check.padEnd(20)}${grouped(count).padStart(14)}${number}`
  })
}

export function findingLine({ check, position, stream, revision, detail }: Finding): string {
  const place = position === null ? '' : ` at position ${position}`
  // A finding can concern a whole stream. Such a finding has no revision.
  const inRevision = revision === null ? '' : `, revision ${revision}`
  const inStream = stream === null ? '' : ` (${stream}${inRevision})`
  return printable(`  ${check}${place}${inStream}: ${detail}`)
}

/** Returns the report of a verification for a terminal. */
export function reportText(report: VerificationReport, seconds: number): string {
  const { findings, first, last, events, root, treeSize, checked, notChecked } = report
  const perSecond = seconds > 0 ? Math.round(events / seconds) : events
  const lines = [
    `${grouped(events)} events (positions ${first} to ${last}) in ${seconds.toFixed(1)} s, ` +
      `${grouped(perSecond)} events/s`,
    `Tree of ${grouped(treeSize)} events, root ${root}`,
    '',
    ...checkLines(findings),
    '',
    'Checked:',
    ...checked.map((sentence) => `  ${sentence}`),
    'Not checked:',
    ...notChecked.map((sentence) => `  ${sentence}`),
    '',
    resultLine(findings.total()),
    ...findings.list().map(findingLine),
  ]
  return `${lines.join('\n')}\n`
}

export function reportJson(report: VerificationReport): string {
  const { findings, ...others } = report
  const found = { finding_count: findings.total(), findings: findings.list() }
  return `${JSON.stringify({ ...others, checks: findings.summary(), ...found }, null, 2)}\n`
}

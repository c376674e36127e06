import { type ContentPart, ConversionError } from '../canonical/canonical-request.ts'
import { callerPathOf } from './caller-paths-of-canonical-parts.ts'

const FAULTS = {
  'tool-call': 'Only an answer of the assistant can contain the call of a tool.',
  'tool-result': 'Only a message of the user can contain the result of a tool.',
} as const

/**
 * Throws a `ConversionError` if `parts` contain the call or the result of a tool that is not
 * `allowed` there. The formats of providers have different members for the two, so each would
 * understand such a part differently, or lose it.
 */
export function checkToolParts(
  parts: readonly ContentPart[],
  path: string,
  allowed: keyof typeof FAULTS | null,
): void {
  for (const part of parts) {
    if (part.kind !== 'tool-call' && part.kind !== 'tool-result') continue
    if (part.kind === allowed) continue
    throw new ConversionError(callerPathOf(part) ?? path, FAULTS[part.kind])
  }
}

import type { Logger } from 'pino'
import type { ExactPart } from '../append-connection.ts'
import { type EncodedPart, exactRevision } from '../encoded-append.ts'
import { RevisionConflict } from '../port.ts'
import { asWritten, type ExactAppend, findPart, type WrittenPart } from './append-at-revision.ts'
import type { EventReads } from './event-reads.ts'
import type { Locks } from './locks.ts'

export type JointDeps = {
  readonly reads: EventReads
  readonly append: ExactAppend
  readonly locks: Locks
  readonly log: Logger
}

const PAGE = 500

/**
 * Appends to several streams as one unit. The append to the first stream is the decision. Its
 * metadata contains the other parts, so any process can finish the append. Before the decision, a
 * wrong revision of any stream rejects the append. After the decision, the other parts are always
 * written.
 */
export async function appendTogether(
  given: readonly EncodedPart[],
  deadline: number,
  joint: JointDeps,
): Promise<WrittenPart[]> {
  const names = given.map(({ stream }) => stream)
  return await joint.locks.together(names, deadline - performance.now(), async () => {
    const actual = await Promise.all(names.map((name) => joint.reads.lastRevision(name)))
    const parts = given.map(({ stream, expected, events, mustBeNew }, index) => ({
      stream,
      events,
      mustBeNew,
      expected: exactRevision(expected) ?? actual[index] ?? -1,
    }))
    const wrong = parts.findIndex(({ expected }, index) => expected !== actual[index])
    const [first, ...others] = parts
    if (first === undefined) return []
    const repeated = wrong < 0 ? null : await findPart(first, joint.reads)
    if (repeated !== null) return await finish(repeated, deadline, joint)
    if (wrong >= 0) throw conflictOf(given[wrong], actual[wrong])
    const decision = await joint.append(first, deadline, others)
    if (!decision.isWritten) throw conflictOf(given[0], decision.actual)
    return [decision, ...(await appendOthers(others, deadline, joint))]
  })
}

function conflictOf(part: EncodedPart | undefined, actual = -1): RevisionConflict {
  return new RevisionConflict(part?.stream ?? '', part?.expected ?? 'any', actual)
}

export async function finish(
  decision: WrittenPart,
  deadline: number,
  joint: JointDeps,
): Promise<WrittenPart[]> {
  const others = decision.found?.at(-1)?.others ?? []
  return [decision, ...(await appendOthers(others, deadline, joint))]
}

async function appendOthers(
  parts: readonly ExactPart[],
  deadline: number,
  joint: JointDeps,
): Promise<WrittenPart[]> {
  const written: WrittenPart[] = []
  for (const part of parts) written.push(await ensureWritten(part, deadline, joint))
  return written
}

/**
 * Writes the part exactly once, even if its stream has got other events in the meantime. After a
 * conflict, searches the stream for the part's events. If they are missing, retries at the end of
 * the stream.
 */
async function ensureWritten(
  part: ExactPart,
  deadline: number,
  joint: JointDeps,
): Promise<WrittenPart> {
  for (let expected = part.expected; ; ) {
    const result = await joint.append({ ...part, expected }, deadline)
    if (result.isWritten) return result
    const { written, last } = await searchFrom(part, joint.reads)
    if (written !== null) return written
    if (part.mustBeNew === true && part.expected < 0) {
      const { stream } = part
      joint.log.error(
        { alarm: 'joint-append-torn', stream },
        'a stream of a decided joint append is not new',
      )
      throw new Error(`stream ${stream} had to be new for a joint append that is already decided`)
    }
    expected = last
  }
}

async function searchFrom(
  { stream, expected, events }: ExactPart,
  reads: EventReads,
): Promise<{ written: WrittenPart | null; last: number }> {
  for (let last = expected; ; ) {
    const page = await reads.readStream(stream, last + 1, PAGE)
    const start = page.findIndex(({ recorded }) => recorded.id === events[0]?.id)
    if (start >= 0) {
      const stored = await reads.readStream(stream, last + 1 + start, events.length)
      return { written: asWritten(stored, events), last }
    }
    last = page.at(-1)?.recorded.revision ?? last
    if (page.length < PAGE) return { written: null, last }
  }
}

import type {
  CanonicalMessage,
  CanonicalRequest,
  ContentPart,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { type RequestWriting, simplifiedContent, writePart } from './write-parts.ts'
import type { Block } from './write-tool-input.ts'

/**
 * A message that is being written. In a user's message, tool results come before all other blocks.
 */
type Turn = {
  readonly role: 'user' | 'assistant' | 'system'
  readonly results: Block[]
  readonly blocks: Block[]
}

type Conversation = {
  readonly system: readonly Block[]
  readonly messages: readonly Block[]
  /**
   * True if the last message contains results of tool calls, but the answer with these calls does
   * not begin with thinking.
   */
  readonly lacksThinkingBeforeCalls: boolean
}

/**
 * The content of the user's message that is added before a conversation that starts with another
 * role. Anthropic requires that a conversation starts with a user's message.
 */
const PLACEHOLDER: Block = { type: 'text', text: '.' }

/**
 * Writes the instructions and the messages. Consecutive messages of the same role are joined,
 * because several providers of this format require alternating roles. Messages without content are
 * left out, because providers refuse them.
 */
export function writeConversation(
  { system, messages }: CanonicalRequest,
  acceptsSystemMessages: boolean,
  writing: RequestWriting,
): Conversation {
  const instructions = writeInstructions(system, 'system', writing)
  const turns: Turn[] = []
  const following = followingRoles(messages)
  messages.forEach((message, index) => {
    const path = `messages[${index}]`
    if (message.role !== 'system') {
      addMessage(turns, message, path, writing)
      return
    }
    const blocks = writeInstructions(message.parts, `${path}.parts`, writing)
    if (turns.length === 0) addAll(instructions, blocks)
    else if (acceptsSystemMessages && isBeforeAnswer(turns, following[index] ?? null)) {
      addAll(turnOf(turns, 'system', blocks)?.blocks, blocks)
    } else {
      if (blocks.length > 0) addLoss(writing.losses, `${path}.role (system)`)
      addAll(turnOf(turns, 'user', blocks)?.blocks, blocks)
    }
  })
  const usable = finishTurns(turns, instructions, writing)
  return {
    system: instructions,
    messages: usable.map(({ role, results, blocks }) => ({
      role,
      content: simplifiedContent([...results, ...blocks]),
    })),
    lacksThinkingBeforeCalls: lacksThinking(usable),
  }
}

/** Writes the texts of instructions. Parts of other kinds are reported as lost. */
function writeInstructions(
  parts: readonly ContentPart[],
  path: string,
  writing: RequestWriting,
): Block[] {
  return parts.flatMap((part, index) => {
    const partPath = `${path}[${index}]`
    if (part.kind !== 'text') {
      addLoss(writing.losses, `${partPath} (${part.kind})`)
      return []
    }
    const block = writePart(part, 'user', partPath, writing)
    return block === null ? [] : [block]
  })
}

function addMessage(
  turns: Turn[],
  message: CanonicalMessage,
  path: string,
  writing: RequestWriting,
): void {
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  message.parts.forEach((part, index) => {
    const block = writePart(part, role, `${path}.parts[${index}]`, writing)
    if (block === null) return
    const turn = turnOf(turns, role, [block])
    const list = block.type === 'tool_result' ? turn?.results : turn?.blocks
    list?.push(block)
  })
}

/**
 * Returns the last turn if it has this role. Otherwise, adds and returns a new turn. Returns null
 * if there are no blocks.
 */
function turnOf(turns: Turn[], role: Turn['role'], blocks: readonly Block[]): Turn | null {
  if (blocks.length === 0) return null
  const last = turns.at(-1)
  if (last?.role === role) return last
  const turn: Turn = { role, results: [], blocks: [] }
  turns.push(turn)
  return turn
}

/**
 * Reports whether a message with the role `system` may follow `turns`. Such a message must not
 * directly follow an answer, and the next message must be an answer or missing.
 */
function isBeforeAnswer(turns: readonly Turn[], following: FollowingRole): boolean {
  return turns.at(-1)?.role !== 'assistant' && following !== 'user'
}

/** The role of the next message that is not an instruction. Null if there is none. */
type FollowingRole = 'user' | 'assistant' | null

/** Returns, for each message, the role of the next message that is not an instruction. */
function followingRoles(messages: readonly CanonicalMessage[]): readonly FollowingRole[] {
  let following: FollowingRole = null
  const backwards = messages.toReversed().map(({ role }) => {
    const result = following
    if (role !== 'system') following = role
    return result
  })
  return backwards.reverse()
}

/** Adds blocks one by one, because the number of arguments of `push` is limited. */
function addAll(list: Block[] | undefined, blocks: readonly Block[]): void {
  for (const block of blocks) list?.push(block)
}

function finishTurns(turns: readonly Turn[], instructions: Block[], writing: RequestWriting) {
  const usable = withoutTrailingSpace(turns)
  const [first] = usable
  if (first === undefined) {
    // The caller of the conversion refuses a conversation without a message.
    if (instructions.length === 0) return []
    // A conversation must have a message, so the instructions become a user's message.
    addLoss(writing.losses, 'system (role)')
    return [{ role: 'user' as const, results: [], blocks: instructions.splice(0) }]
  }
  if (first.role === 'user') return usable
  addLoss(writing.losses, 'messages[0] (assistant first)')
  return [{ role: 'user' as const, results: [], blocks: [PLACEHOLDER] }, ...usable]
}

/**
 * Removes trailing white space from the last message if it is an answer. The model is then asked to
 * continue this answer. Anthropic refuses an answer that ends with white space.
 */
function withoutTrailingSpace(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1)
  const block = last?.blocks.at(-1)
  if (last?.role === 'assistant' && block?.type === 'text') {
    block.text = String(block.text).trimEnd()
  }
  return turns
}

function lacksThinking(turns: readonly Turn[]): boolean {
  const last = turns.findLast(({ role }) => role !== 'system')
  if (last?.role !== 'user' || last.results.length === 0) return false
  const answer = turns.findLast(({ role }) => role === 'assistant')
  const type = answer?.blocks[0]?.type
  return answer !== undefined && type !== 'thinking' && type !== 'redacted_thinking'
}

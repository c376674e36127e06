import { isAscii } from 'node:buffer'
import type { ToolCounts, ToolName } from '#domain/pricing/usage.ts'
import {
  type ReadTexts,
  readEventTexts,
  readTextsOrWhole,
  type TextSink,
} from './answer-text-sink.ts'

const EVENTS_BYTES_MAX = 64 * 1024
const TEXT_LENGTH_MAX = 256 * 1024
/**
 * The number of base64 characters that are charged as one token. For comparison, providers charge
 * 1290 tokens for a picture of about 1 MB. They charge 20 tokens for a second of sound, which has
 * 64 000 base64 characters as PCM and 21 000 as MP3.
 */
const DATA_CHARACTERS_PER_TOKEN = 1_000
/**
 * The maximum number of tool uses that are remembered, and (in `TOOL_ID_LENGTH_MAX`) the number of
 * characters that are kept of a use's tool name and id together. An answer may report the same use
 * several times, and a remembered use counts once. A use that is not remembered counts each time it
 * is reported.
 */
const TOOL_IDS_MAX = 1_024
const TOOL_ID_LENGTH_MAX = 256
const NOTHING = Buffer.alloc(0)

/**
 * The text of an answer, and an estimate of the tokens of all content that is not text, such as
 * pictures.
 */
export type CountableText = {
  readonly text: string
  readonly tokens: number
  /** The part of `tokens` that is an estimate for the images in the answer. Omitted if it is 0. */
  readonly imageTokens?: number
  /** The number of uses of each tool that the provider ran. Omitted if the answer shows none. */
  readonly tools?: ToolCounts
  /** The number of images that are billed per image. Omitted if it is 0. */
  readonly images?: number
}

/**
 * Collects the text of each message field and tool call of an answer separately. The token count
 * therefore does not depend on how a stream interleaves these texts. Only the first 256 K
 * characters are kept. The tokens of the rest are estimated.
 */
class TextCollector implements TextSink {
  private readonly texts = new Map<number, Map<number, string>>()
  private room = TEXT_LENGTH_MAX
  private fitting: Letters = { latin: 0, others: 0 }
  private beyond: Letters = { latin: 0, others: 0 }
  private dataLength = 0
  private imageLength = 0
  tools: ToolCounts | undefined
  private completeImages = 0
  private hasPartialImage = false
  private readonly toolIds = new Set<string>()

  text(choice: number, place: number, piece: string): void {
    const fitting = piece.length <= this.room ? piece : piece.slice(0, this.room)
    this.room -= fitting.length
    if (fitting !== '') {
      const ofChoice = this.texts.get(choice) ?? new Map<number, string>()
      this.texts.set(choice, ofChoice)
      ofChoice.set(place, (ofChoice.get(place) ?? '') + fitting)
      this.fitting = sumOf(this.fitting, lettersOf(fitting))
    }
    if (fitting.length === piece.length) return
    this.beyond = sumOf(this.beyond, lettersOf(piece.slice(fitting.length)))
  }

  data(characters: number, isImage = false): void {
    this.dataLength += characters
    if (isImage) this.imageLength += characters
  }

  tool(name: ToolName, id?: string, isBilled = true): void {
    if (
      id !== undefined &&
      !this.isNewUse(`${name} ${id}`.slice(0, TOOL_ID_LENGTH_MAX), isBilled)
    ) {
      return
    }
    const uses = (this.tools?.[name] ?? 0) + (isBilled ? 1 : -1)
    this.tools = { ...this.tools, [name]: uses }
  }

  images(count: number, isPartial: boolean): void {
    if (count === 0) return
    this.hasPartialImage = isPartial
    if (!isPartial) this.completeImages += count
  }

  /**
   * The number of images. If the answer ends with a partial image, this image counts too, because
   * it may look like the complete one.
   */
  get imageCount(): number {
    return this.completeImages + (this.hasPartialImage ? 1 : 0)
  }

  /**
   * Records whether the tool use with this id is billed. Returns false if this does not change the
   * number of billed uses: the use is billed and already recorded, or it is not billed and was
   * never recorded.
   */
  private isNewUse(id: string, isBilled: boolean): boolean {
    if (!isBilled) return this.toolIds.delete(id)
    if (this.toolIds.has(id)) return false
    if (this.toolIds.size < TOOL_IDS_MAX) this.toolIds.add(id)
    return true
  }

  read(): CountableText {
    const choices = [...this.texts].toSorted(byKey).map(([, ofChoice]) => ofChoice)
    const texts = choices.flatMap((ofChoice) => [...ofChoice].toSorted(byKey))
    const { tools, imageTokens, imageCount } = this
    return {
      text: texts.map(([, text]) => text).join(''),
      tokens: this.uncountedTokens(),
      ...(imageTokens === 0 ? {} : { imageTokens }),
      ...(tools === undefined ? {} : { tools }),
      ...(imageCount === 0 ? {} : { images: imageCount }),
    }
  }

  get imageTokens(): number {
    return Math.ceil(this.imageLength / DATA_CHARACTERS_PER_TOKEN)
  }

  estimateTokens(): number {
    return tokensOf(this.fitting) + this.uncountedTokens()
  }

  /** Estimates the tokens of binary data and of the text beyond `TEXT_LENGTH_MAX`. */
  private uncountedTokens(): number {
    return tokensOf(this.beyond) + Math.ceil(this.dataLength / DATA_CHARACTERS_PER_TOKEN)
  }
}

/**
 * Returns the text of a complete answer (not a stream), and the estimated tokens of its other
 * content.
 */
export function textOfAnswer(body: Buffer, readTexts: ReadTexts): CountableText {
  const collector = new TextCollector()
  readTextsOrWhole(body.toString('utf8'), readTexts, collector)
  return collector.read()
}

/** Reports whether complete events of a stream contain any text or binary data. */
export function hasText(events: Buffer, readTexts: ReadTexts): boolean {
  let length = 0
  readEventTexts(events.toString('utf8'), readTexts, {
    text: (_choice, _place, piece) => {
      length += piece.length
    },
    data: (characters) => {
      length += characters
    },
  })
  return length > 0
}

/**
 * Keeps the delivered content of a stream. If the provider reports no usage, the tokens of this
 * content are counted. To save time, events are parsed only when 64 KB have accumulated or when a
 * method needs their content.
 */
export class DeliveredText {
  private readonly readTexts: ReadTexts
  private readonly collector = new TextCollector()
  private events: Buffer[] = []
  private eventBytes = 0
  /** The number of entries in `events` whose tokens are already part of `pendingTokensAtMost`. */
  private boundedEvents = 0
  private pendingTokensAtMost = 0
  /**
   * The number of bytes forwarded to the caller. It determines when the call's progress is
   * recorded.
   */
  bytes = 0

  constructor(readTexts: ReadTexts) {
    this.readTexts = readTexts
  }

  add(events: Buffer): void {
    this.events.push(events)
    this.eventBytes += events.length
    this.bytes += events.length
    if (this.eventBytes >= EVENTS_BYTES_MAX) this.digest()
  }

  /**
   * Counts the tool uses and images in events that the caller did not receive. The text of these
   * events is not counted.
   */
  addToolUses(events: Buffer): void {
    this.digest()
    const { collector } = this
    readEventTexts(events.toString('utf8'), this.readTexts, {
      text: () => {},
      data: () => {},
      tool: (...use) => collector.tool(...use),
      images: (...delivered) => collector.images(...delivered),
    })
  }

  read(): CountableText {
    this.digest()
    return this.collector.read()
  }

  /**
   * Returns the number of uses of each provider tool in the delivered events. Undefined if there
   * are none.
   */
  toolUses(): ToolCounts | undefined {
    this.digest()
    return this.collector.tools
  }

  /** Returns the number of images in the delivered events. */
  imageCount(): number {
    this.digest()
    return this.collector.imageCount
  }

  /** Estimates the tokens of the images in the delivered events. */
  estimateImageTokens(): number {
    this.digest()
    return this.collector.imageTokens
  }

  /** Estimates the number of delivered tokens without a tokenizer. Used for progress events. */
  estimateTokens(): number {
    this.digest()
    return this.collector.estimateTokens()
  }

  /**
   * Returns an upper bound of `estimateTokens` without parsing the events. In an ASCII event, a
   * token takes at least four bytes: four characters, or one escape of six characters. In any other
   * event, a token takes at least two bytes.
   */
  tokensUpperBound(): number {
    for (; this.boundedEvents < this.events.length; this.boundedEvents += 1) {
      const events = this.events[this.boundedEvents] ?? NOTHING
      this.pendingTokensAtMost += events.length / (isAscii(events) ? 4 : 2)
    }
    return this.collector.estimateTokens() + Math.ceil(this.pendingTokensAtMost)
  }

  private digest(): void {
    readEventTexts(Buffer.concat(this.events).toString('utf8'), this.readTexts, this.collector)
    this.events = []
    this.eventBytes = 0
    this.boundedEvents = 0
    this.pendingTokensAtMost = 0
  }
}

/**
 * Estimates the number of tokens of a text: one per four Latin characters, and one per character of
 * any other script.
 */
export const estimateTokens = (text: string): number => tokensOf(lettersOf(text))

type Letters = { readonly latin: number; readonly others: number }

function lettersOf(text: string): Letters {
  let latin = 0
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) < 0x250) latin += 1
  }
  return { latin, others: text.length - latin }
}

const sumOf = (one: Letters, other: Letters): Letters => ({
  latin: one.latin + other.latin,
  others: one.others + other.others,
})

const tokensOf = ({ latin, others }: Letters): number => Math.ceil(latin / 4) + others

const byKey = (one: readonly [number, unknown], other: readonly [number, unknown]): number =>
  one[0] - other[0]

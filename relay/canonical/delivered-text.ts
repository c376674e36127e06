import { eachWord, eachWordOfEvents, type WordSink } from './answer-words.ts'

const EVENTS_BYTES_MAX = 64 * 1024
const TEXT_LENGTH_MAX = 256 * 1024
/**
 * A token of base64 data. Published rates: a picture of 1 290 tokens has about a megabyte, a second
 * of sound has 20 tokens in 64 000 characters as PCM and in 21 000 as MP3.
 */
const DATA_CHARACTERS_PER_TOKEN = 1_000

/** The text that is to be counted, and the tokens of everything else. */
export type Said = { readonly text: string; readonly tokens: number }

/**
 * What an answer said, gathered text by text, so that it is counted alike whether it came whole or
 * in pieces, and however those were mixed. Beyond 256 K characters the words are let go and their
 * tokens estimated.
 */
class SaidText implements WordSink {
  private readonly texts = new Map<number, Map<number, string>>()
  private room = TEXT_LENGTH_MAX
  private beyond: Letters = { latin: 0, others: 0 }
  private dataLength = 0

  words(choice: number, place: number, piece: string): void {
    const kept = piece.length <= this.room ? piece : piece.slice(0, this.room)
    this.room -= kept.length
    if (kept !== '') {
      const ofChoice = this.texts.get(choice) ?? new Map<number, string>()
      this.texts.set(choice, ofChoice)
      ofChoice.set(place, (ofChoice.get(place) ?? '') + kept)
    }
    if (kept.length === piece.length) return
    const { latin, others } = lettersOf(piece.slice(kept.length))
    this.beyond = { latin: this.beyond.latin + latin, others: this.beyond.others + others }
  }

  data(characters: number): void {
    this.dataLength += characters
  }

  read(): Said {
    const choices = [...this.texts].toSorted(byKey).map(([, ofChoice]) => ofChoice)
    const texts = choices.flatMap((ofChoice) => [...ofChoice].toSorted(byKey))
    const data = Math.ceil(this.dataLength / DATA_CHARACTERS_PER_TOKEN)
    return { text: texts.map(([, text]) => text).join(''), tokens: tokensOf(this.beyond) + data }
  }
}

/** What a plain answer said. */
export function textOfAnswer(body: Buffer): Said {
  const said = new SaidText()
  eachWord(body.toString('utf8'), said)
  return said.read()
}

/** Whether whole events of a stream say anything. */
export function saysWords(events: Buffer): boolean {
  let length = 0
  eachWordOfEvents(events.toString('utf8'), {
    words: (_choice, _place, piece) => {
      length += piece.length
    },
    data: (characters) => {
      length += characters
    },
  })
  return length > 0
}

/**
 * What a stream delivered, kept so that it can be counted if the provider never says. Events are
 * kept as they came and read only when 64 KB have gathered or they are needed, so that a stream
 * with usage at its end costs nothing here.
 */
export class DeliveredText {
  private readonly said = new SaidText()
  private events: Buffer[] = []
  private eventBytes = 0
  /** Bytes passed on, for deciding when progress is worth recording. */
  bytes = 0

  add(events: Buffer): void {
    this.events.push(events)
    this.eventBytes += events.length
    this.bytes += events.length
    if (this.eventBytes >= EVENTS_BYTES_MAX) this.digest()
  }

  read(): Said {
    this.digest()
    return this.said.read()
  }

  /** Tokens so far without a tokenizer; for progress. */
  roughTokens(): number {
    const { text, tokens } = this.read()
    return tokens + roughTokens(text)
  }

  private digest(): void {
    eachWordOfEvents(Buffer.concat(this.events).toString('utf8'), this.said)
    this.events = []
    this.eventBytes = 0
  }
}

/** A token for every four Latin characters, and for each of the others. */
export const roughTokens = (text: string): number => tokensOf(lettersOf(text))

type Letters = { readonly latin: number; readonly others: number }

function lettersOf(text: string): Letters {
  let latin = 0
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) < 0x250) latin += 1
  }
  return { latin, others: text.length - latin }
}

const tokensOf = ({ latin, others }: Letters): number => Math.ceil(latin / 4) + others

const byKey = (one: readonly [number, unknown], other: readonly [number, unknown]): number =>
  one[0] - other[0]

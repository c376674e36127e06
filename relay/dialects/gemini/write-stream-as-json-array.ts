import { EVENT_BOUNDARY, eventData } from '#relay/canonical/sse-scanner.ts'

const LINE_FEED = Buffer.from('\n')

/**
 * Renders the events of one stream as the elements of a JSON array. This is Gemini's form of a
 * stream without `alt=sse`. The array is complete only after `end`.
 */
export class JsonArrayStream {
  private hasElements = false

  /**
   * Renders complete events as array elements. A comment becomes white space, which is valid
   * between two elements.
   */
  elementsOf(events: Buffer | string): Buffer {
    let text = ''
    for (const event of events.toString().split(EVENT_BOUNDARY)) {
      const data = eventData(event)
      if (data === null) continue
      text += this.hasElements ? `,\n${data}` : `[${data}`
      this.hasElements = true
    }
    return text === '' && events.length > 0 ? LINE_FEED : Buffer.from(text)
  }

  end(events: Buffer | string): Buffer {
    const elements = events.length === 0 ? '' : this.elementsOf(events).toString()
    return Buffer.from(this.hasElements ? `${elements}\n]` : '[]')
  }
}

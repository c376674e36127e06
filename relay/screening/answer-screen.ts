import { eachWord, eachWordOfEvents } from '#relay/canonical/answer-words.ts'
import type { Screening } from './screening.ts'
import { MATCH_START, MATCHED, type WordMatcher } from './word-matcher.ts'

/** Looks through one call's answer as it comes. */
export class AnswerScreen {
  private readonly matcher: WordMatcher
  private state = MATCH_START

  constructor(matcher: WordMatcher) {
    this.matcher = matcher
  }

  /** False from the event on that completes a word. */
  isClean(events: Buffer): boolean {
    const pieces: string[] = []
    eachWordOfEvents(events.toString('utf8'), (_choice, _place, piece) => pieces.push(piece))
    this.state = this.matcher.feed(this.state, pieces.join(''))
    return this.state !== MATCHED
  }

  isCleanAnswer(answer: Buffer): boolean {
    const texts: string[] = []
    eachWord(answer.toString('utf8'), (_choice, _place, text) => texts.push(text))
    return this.matcher.feed(MATCH_START, texts.join('\n')) !== MATCHED
  }
}

/** null: nobody looks, and nothing is spent on it. */
export const answerScreen = (
  { matcher, isAnswerStopped, exemptGroup }: Screening,
  group: string,
): AnswerScreen | null =>
  matcher === null || !isAnswerStopped || group === exemptGroup ? null : new AnswerScreen(matcher)

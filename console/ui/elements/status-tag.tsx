import type { ReactElement, ReactNode } from 'react'

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info' | 'lime'

/** A small label with a mark that differs by tone in shape as well as in colour. */
export function StatusTag(props: {
  tone: Tone
  children: ReactNode
  /** Omits the mark, for plain labels. */
  isPlain?: boolean
}): ReactElement {
  return (
    <span className={`tg-tag tg-tag-${props.tone}`}>
      {props.isPlain === true ? null : (
        <span className={`tg-mark tg-mark-${props.tone}`} aria-hidden="true" />
      )}
      {props.children}
    </span>
  )
}

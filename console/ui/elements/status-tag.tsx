import type { ReactNode } from 'react'

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info' | 'lime'

export function StatusTag(props: { tone: Tone; children: ReactNode; isPlain?: boolean }) {
  return (
    <span className={`tg-tag tg-tag-${props.tone}`}>
      {props.isPlain === true ? null : (
        <span className={`tg-mark tg-mark-${props.tone}`} aria-hidden="true" />
      )}
      {props.children}
    </span>
  )
}

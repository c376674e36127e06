import type { ReactElement } from 'react'
import { Icon } from './icons.tsx'

/** What the server said no with, in the form that asked. */
export function Refusal({ text }: { text: string }): ReactElement | null {
  if (text === '') return null
  return (
    <p className="tg-alert tg-alert-bad" role="alert">
      <Icon name="alert" />
      {text}
    </p>
  )
}

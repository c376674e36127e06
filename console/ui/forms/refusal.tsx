import type { ReactElement } from 'react'
import { Icon } from '../elements/icons.tsx'

/** The message of a refusal by the server, in the form that caused it. */
export function Refusal({ text }: { text: string }): ReactElement | null {
  if (text === '') return null
  return (
    <p className="tg-alert tg-alert-bad" role="alert">
      <Icon name="alert" />
      {text}
    </p>
  )
}

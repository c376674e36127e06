import type { ReactNode } from 'react'
import { Icon, type IconName } from '../elements/icons.tsx'

/**
 * A message within the page. With the tone `bad` or the role `alert`, screen readers interrupt what
 * they are reading.
 */
export function Alert(props: {
  tone?: 'bad' | 'good'
  icon?: IconName
  role?: 'alert' | 'note'
  children: ReactNode
}) {
  const { tone, children } = props
  if (tone === 'good') {
    return (
      <output className="tg-alert tg-alert-good">
        <Icon name={props.icon ?? 'check'} />
        {children}
      </output>
    )
  }
  const isBad = tone === 'bad'
  return (
    <p className={isBad ? 'tg-alert tg-alert-bad' : 'tg-alert'} role={isBad ? 'alert' : props.role}>
      <Icon name={props.icon ?? (isBad ? 'alert' : 'info')} />
      {children}
    </p>
  )
}

export const ServerErrorText = ({ text }: { text: string }) =>
  text === '' ? null : <Alert tone="bad">{text}</Alert>

import type { ReactNode } from 'react'
import { Icon, type IconName } from '../elements/icons.tsx'

export function EmptyState(props: {
  icon?: IconName
  title: string
  body?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="tg-empty">
      <span className="tg-empty-icon">
        <Icon name={props.icon ?? 'list'} size={20} />
      </span>
      <p className="tg-empty-title">{props.title}</p>
      {props.body === undefined ? null : <div className="tg-empty-body">{props.body}</div>}
      {props.action === undefined ? null : <div className="tg-actions">{props.action}</div>}
    </div>
  )
}

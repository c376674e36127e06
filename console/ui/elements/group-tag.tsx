import './group-tag.css'
import type { ReactElement } from 'react'
import { useSharedStatus } from '#console/api/status.ts'

/** A group in its colour of the site; the colour only supplements the name. */
export function GroupTag({ name }: { name: string }): ReactElement {
  const colors = useSharedStatus()?.group_colors
  const color = colors !== undefined && Object.hasOwn(colors, name) ? colors[name] : undefined
  return <GroupBadge name={name} color={color ?? ''} />
}

/** For lists that format names themselves. */
export const groupTag = (name: string): ReactElement => <GroupTag name={name} />

/** The same in a colour that may not be saved yet. */
export function GroupBadge(props: { name: string; color: string }): ReactElement {
  const color = /^[a-z]+$/.test(props.color) ? ` tg-group-${props.color}` : ''
  return <span className={`tg-group${color}`}>{props.name}</span>
}

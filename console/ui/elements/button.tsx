import type { MouseEventHandler, PointerEventHandler, ReactNode, Ref } from 'react'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import type { Action } from '../actions/action-registry.ts'
import { Icon, type IconName } from './icons.tsx'

type ButtonTone = 'primary' | 'normal' | 'quiet' | 'danger'

type ButtonProps = {
  children?: ReactNode
  /**
   * The name for screen readers, which is also the tooltip. A button without text must have a
   * label.
   */
  label?: string
  tone?: ButtonTone
  icon?: IconName | undefined
  endIcon?: IconName
  type?: 'button' | 'submit'
  size?: 'small' | 'medium' | 'large'
  isBusy?: boolean
  isDisabled?: boolean
  isPressed?: boolean
  isExpanded?: boolean
  hasMenu?: boolean
  /**
   * The id of an element that describes the button, such as the reason why the button is disabled.
   */
  describedBy?: string | undefined
  isFill?: boolean
  onClick?: MouseEventHandler<HTMLElement>
  onPointerDown?: PointerEventHandler<HTMLElement>
  ref?: Ref<HTMLButtonElement>
  className?: string
}

export function Button(props: ButtonProps) {
  const { tone = 'normal', size = 'medium', icon, endIcon, label } = props
  const classes = ['tg-button', `tg-button-${tone}`, `tg-button-${size}`]
  if (props.children === undefined) classes.push('tg-button-square')
  if (props.isFill === true) classes.push('tg-button-fill')
  if (props.isBusy === true) classes.push('tg-button-busy')
  if (props.className !== undefined) classes.push(props.className)
  return (
    <button
      ref={props.ref}
      className={classes.join(' ')}
      type={props.type ?? 'button'}
      disabled={props.isDisabled === true}
      aria-label={label}
      aria-pressed={props.isPressed}
      aria-expanded={props.isExpanded}
      aria-haspopup={props.hasMenu === true ? 'menu' : undefined}
      aria-busy={props.isBusy}
      aria-describedby={props.describedBy}
      title={label}
      onClick={props.onClick}
      onPointerDown={props.onPointerDown}
    >
      {icon !== undefined && <Icon name={icon} />}
      {props.children !== undefined && <span>{props.children}</span>}
      {endIcon !== undefined && <Icon name={endIcon} />}
    </button>
  )
}

/** A button with the icon of an action and without text. The title of the action is its label. */
export function ActionButton(props: ButtonProps & { action: Action }) {
  const { action, ...rest } = props
  return <Button icon={action.icon} label={action.title} onClick={action.perform} {...rest} />
}

/**
 * A button that creates an object. It is hidden while a scratch copy (the site as of an earlier
 * time) is open, because a copy can't be changed.
 */
export const CreateButton = (props: { text: string; onClick: () => void }) =>
  currentScratchCopy() === null && (
    <Button tone="primary" icon="add" onClick={props.onClick}>
      {props.text}
    </Button>
  )

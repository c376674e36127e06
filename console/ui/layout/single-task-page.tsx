import type { ReactNode } from 'react'
import { Button } from '../elements/button.tsx'
import { type DraftForm, formProps } from '../forms/use-draft-form.ts'
import { Alert, ServerErrorText } from '../messages/alert.tsx'
import { usePageTitle } from './page.tsx'

/** A page for a single task, such as the login, the setup or a password reset. */
export function SingleTaskPage(props: {
  title: string
  /** The main heading of the page. The default is `title`. */
  heading?: string
  lead?: ReactNode
  isWide?: boolean
  children?: ReactNode
}) {
  const { title, lead, heading = title } = props
  usePageTitle(title)
  return (
    <div className={props.isWide === true ? 'tg-entry tg-entry-wide' : 'tg-entry'}>
      <header className="tg-entry-head">
        <h1>{heading}</h1>
        {lead === undefined ? null : <p>{lead}</p>}
      </header>
      {props.children}
    </div>
  )
}

/** The form of a `SingleTaskPage`. `formError` is an error that does not belong to a field. */
export function SingleTaskForm(props: {
  form: Pick<DraftForm<object>, 'ref' | 'submit' | 'isBusy' | 'formError'>
  submitText: string
  isDisabled?: boolean
  /**
   * A text that is shown instead of the submit button when the form does not need to be submitted
   * again.
   */
  done?: string | undefined
  children: ReactNode
}) {
  const { form, submitText, isDisabled = false, done } = props
  return (
    <form className="tg-entry-form" {...formProps(form)}>
      {props.children}
      <ServerErrorText text={form.formError} />
      {done === undefined ? (
        <Button
          type="submit"
          tone="primary"
          size="large"
          isFill
          isBusy={form.isBusy}
          isDisabled={isDisabled}
        >
          {submitText}
        </Button>
      ) : (
        <Alert tone="good">{done}</Alert>
      )}
    </form>
  )
}

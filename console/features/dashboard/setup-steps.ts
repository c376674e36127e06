type StepName = 'channel' | 'price' | 'token' | 'call'

/**
 * The input of `setupSteps`. A number is null until it has loaded. For users without the right to
 * read the number, it is always null.
 */
type Progress = {
  readonly isAdmin: boolean
  readonly channels: number | null
  readonly callableModels: number | null
  readonly tokens: number | null
  readonly calls: number | null
}

export type Step = { readonly name: StepName; readonly isDone: boolean; readonly isNext: boolean }

export function stepPath(name: StepName, hasUnpriced: boolean): string {
  if (name === 'channel') return '/channel/add'
  if (name === 'token') return '/app/tokens?form=new'
  if (name === 'call') return '/app/logs/api-usage'
  return hasUnpriced ? '/admin/channels?unpriced=1' : '/admin/settings?prices=unset'
}

export function setupSteps(progress: Progress): Step[] {
  const isPositive = (count: number | null): boolean => (count ?? 0) > 0
  const all: { name: StepName; isDone: boolean }[] = [
    { name: 'channel', isDone: isPositive(progress.channels) },
    { name: 'price', isDone: isPositive(progress.callableModels) },
    { name: 'token', isDone: isPositive(progress.tokens) },
    { name: 'call', isDone: isPositive(progress.calls) },
  ]
  const shownSteps = progress.isAdmin ? all : all.slice(2)
  const next = shownSteps.find(({ isDone }) => !isDone)?.name
  return shownSteps.map((step) => ({ ...step, isNext: step.name === next }))
}

import type { PathParameters } from '../wire-format.ts'

/**
 * Reports whether the name of a model in a request's body is not the model in the path. The path
 * decides which model is called and billed.
 */
export const isOtherModel = (named: string, { model }: Pick<PathParameters, 'model'>): boolean =>
  named.replace(/^models\//, '') !== model

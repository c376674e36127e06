/** The texts that were set, and the vault's references of the secret ones. */
export type OptionsState = {
  readonly values: Map<string, string>
  readonly secretRefs: Map<string, string>
}

export const initialOptions = (): OptionsState => ({ values: new Map(), secretRefs: new Map() })

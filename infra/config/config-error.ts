/** A variable of the environment can't be used; the message names it and the fault. */
export class ConfigError extends Error {
  readonly variable: string
  constructor(variable: string, fault: string) {
    super(`${variable}: ${fault}`)
    this.name = 'ConfigError'
    this.variable = variable
  }
}

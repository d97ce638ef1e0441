/**
 * Structured logs: one JSON object a line for machines, one readable line for a person at a terminal.
 *
 * Invariant: no secret is ever written. What is logged is copied first, and everything whose name says that it is a secret, and
 * the data of every Secret object, is replaced by `[redacted]`. Made once by `main`; everybody else gets a child that carries
 * the controller, the key and the id of the reconcile.
 */
import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { createPrettyStream } from './pretty.ts';
import { redact } from './redact.ts';

export type Fields = Readonly<Record<string, unknown>>;

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** What every part of the runtime logs to; pino's own loggers have this shape too. */
export interface Logger {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  /** A logger that adds these fields to everything. */
  child(fields: Fields): Logger;
}

export interface LoggerOptions {
  /** Default `info`. */
  readonly level?: LogLevel;
  /** Default: pretty on a terminal, else json. */
  readonly format?: 'json' | 'pretty';
  /** Default: standard error, so that standard output stays free for results. */
  readonly destination?: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Colours in the pretty format. Default: on a terminal, unless NO_COLOR is set. */
  readonly colour?: boolean;
}

/** A logger for the whole process. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const destination = options.destination ?? process.stderr;
  const isTerminal = destination.isTTY === true;
  const isPretty = options.format === undefined ? isTerminal : options.format === 'pretty';
  const colour = options.colour ?? (isTerminal && (process.env.NO_COLOR ?? '') === '');
  const stream: DestinationStream = isPretty
    ? createPrettyStream((text) => destination.write(text), colour)
    : { write: (text) => void destination.write(text) };
  const root = pino(
    {
      level: options.level ?? 'info',
      base: null,
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: redact },
    },
    stream,
  );
  return wrap(root);
}

function wrap(logger: PinoLogger): Logger {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => wrap(logger.child(redact(fields))),
  };
}

/** Logs nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

/** Figures of collectors for tests: as readings, and as the text that a real one tells them in. */
import type { Collector } from '../collectors.ts';
import type { Queue, Reading } from '../reading.ts';

export const nodeCollector = (name = 'node-1'): Collector => ({ role: 'node', name, ip: `10.0.0.${name.length}` });
export const gateway = (name = 'otel-gateway-a'): Collector => ({ role: 'gateway', name, ip: `10.1.0.${name.length}` });

const MIB = 1024 * 1024;

/** A queue of 256 MiB in which each event takes 250 bytes. */
export function queueOf(sent: number, events = 0, more: Partial<Queue> = {}): Queue {
  return { sent, bytes: events * 250, capacity: 256 * MIB, isSending: events > 0, events, ...more };
}

/** A collector that has run for an hour. */
export function readingOf(more: Partial<Reading> = {}): Reading {
  return { uptime: 3600, received: {}, queues: {}, answers: {}, refused: 0, ...more };
}

/** A reading in the form of OpenTelemetry Collector 0.157. */
export function textOf({ uptime, received, queues, answers, refused }: Reading): string {
  const lines = [
    '# HELP otelcol_process_uptime Uptime of the process',
    '# TYPE otelcol_process_uptime counter',
    `otelcol_process_uptime ${uptime}`,
    `otelcol_elasticsearch_docs_processed{http_response_status_code="400",outcome="failed_client"} ${refused}`,
    ...Object.entries(received).map(
      ([receiver, count]) => `otelcol_receiver_accepted_log_records{receiver="${receiver}",transport=""} ${count}`,
    ),
    ...Object.entries(answers).map(([status, count]) => {
      const label = /^\d/.test(status) ? 'http_response_status_code' : 'rpc_response_status_code';
      return `${label.startsWith('http') ? 'http_client_request' : 'rpc_client_call'}_duration_count{${label}="${status}"} ${count}`;
    }),
    ...Object.entries(queues).flatMap(([exporter, { sent, bytes, capacity, isSending, events = 0 }]) => [
      `otelcol_exporter_sent_log_records{exporter="${exporter}"} ${sent}`,
      `otelcol_exporter_queue_size{data_type="logs",exporter="${exporter}"} ${bytes}`,
      `otelcol_exporter_queue_capacity{data_type="logs",exporter="${exporter}"} ${capacity}`,
      `otelcol_exporter_in_flight_requests{data_type="logs",exporter="${exporter}"} ${isSending ? 1 : 0}`,
      `otelcol_exporter_queue_batch_send_size_sum{exporter="${exporter}"} ${Math.max(1, events)}`,
      `otelcol_exporter_queue_batch_send_size_bytes_sum{exporter="${exporter}"} ${events === 0 ? 250 : bytes}`,
    ]),
  ];
  return `${lines.join('\n')}\n`;
}
